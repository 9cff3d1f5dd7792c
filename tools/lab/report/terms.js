// Definitions: the terms of docs/glossary.md that the page's text has. A term is a link where it
// first occurs in a section; its definition is said on hover, focus and tap, and in the list of
// terms at the end of the page, to which it leads.

/** Markdown as text. Its links lead to pages that are not beside a report. */
const plainText = (markdown) => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/`/g, "");

/** {name, meaning} by the word that texts have: "ACK" for the term "ACK (signal)". */
const GLOSSARY = new Map(JSON.parse(document.getElementById("glossary").textContent).split("\n")
  .filter((line) => line.startsWith("| ")).slice(1)
  .map((line) => line.slice(2, -2).split(" | ").map(plainText))
  .map(([name, meaning]) => [name.replace(/ \(.*\)$/, ""), { name, meaning }]));

const meaningOf = (word) => GLOSSARY.get(word).meaning;
const termId = (word) => "term-" + word.replace(/\W+/g, "-");
const meaningId = (word) => "meaning-" + word.replace(/\W+/g, "-");

/** All terms with their plurals, also at the begin of a sentence. "k" is not "K", and a term is no
    part of a name such as on-pace, h_packets or leaf_a.to_leaf_b. */
const TERMS = (() => {
  const pattern = (word) => (/^[a-z]./.test(word) ? `[${word[0]}${word[0].toUpperCase()}]${word.slice(1)}` : word) + (word.length > 1 ? "(?:e?s)?" : "");
  const words = [...GLOSSARY.keys()].sort((a, b) => b.length - a.length).map(pattern);
  return new RegExp(`(^|[^\\w.=-])(${words.join("|")})(?![\\w=-]|\\.\\w)`, "g");
})();

/** The word of the glossary that was found as, for example, "Bursts". */
function wordFor(found) {
  const forms = [found, found.replace(/s$/, ""), found.replace(/es$/, "")];
  return forms.concat(forms.map((f) => f[0].toLowerCase() + f.slice(1))).find((f) => GLOSSARY.has(f));
}

let lastPointer = "mouse";
addEventListener("pointerdown", (event) => { lastPointer = event.pointerType; }, true);

function termLink(word, shown) {
  // The empty title keeps the browser from showing that of a heading above the definition.
  const link = el("a", { class: "term", href: "#" + termId(word), title: "", "aria-describedby": meaningId(word), text: shown,
    onclick: (event) => { if (lastPointer === "touch") event.preventDefault(); } });
  link.__tip = () => {
    const heading = link.closest("th[title]"), { name, meaning } = GLOSSARY.get(word);
    return [`${name}: ${meaning}`].concat(heading ? heading.title : []);
  };
  return link;
}

/** Makes links of the terms of a text that are not in `seen`. */
function linkTerms(node, seen) {
  const parts = [];
  let at = 0;
  for (const found of node.data.matchAll(TERMS)) {
    const word = wordFor(found[2]), from = found.index + found[1].length;
    if (seen.has(word)) continue;
    seen.add(word);
    parts.push(node.data.slice(at, from), termLink(word, found[2]));
    at = from + found[2].length;
  }
  if (parts.length) node.replaceWith(...parts, node.data.slice(at));
}

function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentNode.closest("a, button, code, svg")) texts.push(walker.currentNode);
  return texts;
}

/** Labels of figures have no links, because figures are saved: they say their terms on hover. */
function defineLabel(label, seen) {
  const words = [...label.textContent.matchAll(TERMS)].map((found) => wordFor(found[2]));
  if (!words.length) return;
  words.forEach((word) => seen.add(word));
  if (!tipNode({ target: label })) label.__tip = words.map((word) => `${GLOSSARY.get(word).name}: ${meaningOf(word)}`);
}

/** The experiment's name and question and what its arms set are the reader's own words. */
const OWN_TEXTS = "h2, h3, p:not(.question), li, .help, th[scope=col]";

/** To be called whenever something was drawn anew. */
function defineTerms() {
  const page = document.getElementById("page"), used = new Set();
  for (const link of page.querySelectorAll(".term")) link.replaceWith(link.textContent);
  page.normalize();
  for (const part of page.querySelectorAll("header, section:not(#terms)")) {
    const seen = new Set();
    for (const element of part.querySelectorAll(OWN_TEXTS)) for (const node of textsOf(element)) linkTerms(node, seen);
    for (const label of part.querySelectorAll("svg text")) defineLabel(label, seen);
    seen.forEach((word) => used.add(word));
  }
  const list = el("dl", { class: "terms" });
  for (const [word, { name, meaning }] of GLOSSARY)
    if (used.has(word)) list.append(el("dt", { id: termId(word), text: name }), el("dd", { id: meaningId(word), text: meaning }));
  document.getElementById("all-terms").replaceChildren(list);
}
