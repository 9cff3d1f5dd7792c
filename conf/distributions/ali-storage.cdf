# AliStorage2019: Alibaba's distributed storage, published with HPCC:
# alibaba-edu/High-Precision-Congestion-Control traffic_gen/AliStorage2019.txt.
# bytes  share of flows of at most that size
0 0
4000 0.2293
8000 0.6921
16000 0.8061
32000 0.9047
64000 0.9353
128000 0.9677
256000 0.9753
2000000 1
