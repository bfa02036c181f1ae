/** The search index: sections of pages, and Hebrew words also without their prefix letters. */

/** A part of a page that can be found. `titles` are its heading and those above it. */
export interface Section {
  anchor: string;
  titles: string[];
  text: string;
}

const HEADING = /<h([1-6])[^>]*?>(.*?)<a[^>]*? href="#([^"]*)"[^>]*>.*?<\/a><\/h\1>/gs;

/** Letters that Hebrew writes in front of a word: and, the, in, to, from, that, as. A stem has at least three letters. */
const PREFIXED = /(?<![\u05d0-\u05ea])[\u05d5\u05d4\u05d1\u05dc\u05de\u05e9\u05db]([\u05d0-\u05ea]{3,})/g;

/** Splits a page at its headings. */
export function* sectionsOf(html: string): Generator<Section> {
  const headings = [...html.matchAll(HEADING)];
  const above: string[] = [];
  for (const [index, { 0: whole, 1: level, 2: title = '', 3: anchor = '', index: at }] of headings.entries()) {
    const depth = Number(level);
    above.length = Math.min(above.length, depth - 1);
    above[depth - 1] = plainText(title);
    const text = plainText(html.slice(at + whole.length, headings[index + 1]?.index));
    yield { anchor: depth === 1 ? '' : anchor, titles: above.filter((name) => name), text: `${text} ${stemsOf(text)}`.trim() };
  }
}

/** The Hebrew words of a text that may begin with prefix letters, without one and without two of them. */
export function stemsOf(text: string): string {
  const stems = new Set<string>();
  for (const [, stem = ''] of text.matchAll(PREFIXED)) {
    stems.add(stem);
    const [, shorter] = /^[\u05d5\u05d4\u05d1\u05dc\u05de\u05e9\u05db]([\u05d0-\u05ea]{3,})$/.exec(stem) ?? [];
    if (shorter !== undefined) stems.add(shorter);
  }
  return [...stems].join(' ');
}

function plainText(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
}
