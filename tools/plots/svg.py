"""What SVG pictures have in common."""

import html


def frame(width, height):
    """Returns the first parts of a picture, which ends with "</svg>"."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>']


def text(x, y, words, anchor="middle", size=12, weight="normal", fill="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="{fill}">{html.escape(words, quote=False)}</text>')
