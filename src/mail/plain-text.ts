import type { TokenizerCallbacks } from 'htmlparser2';
import { TextLines } from './text-lines.ts';

/** Characters of the page that are converted; plain text beyond that is not read. */
const MAX_LENGTH = 500_000;

/**
 * Converts a page to plain text: paragraphs, rows and list items on separate lines, link addresses in parentheses. Runs in time linear in the length
 * of the page.
 */
export async function plainText(html: string): Promise<string> {
  // Loaded lazily. Uses the tokenizer only, because the parser is quadratic in the nesting depth of a page.
  const { Tokenizer } = await import('htmlparser2');
  const page = new Page(html.slice(0, MAX_LENGTH));
  const tokenizer = new Tokenizer({ decodeEntities: true }, page);
  tokenizer.write(page.html);
  tokenizer.end();
  return page.lines.text();
}

/** Number of line breaks before and after an element, by its name. */
const breaks: ReadonlyMap<string, number> = new Map(
  [
    'address article aside center dd div dt fieldset figcaption figure footer form header hr li main nav section tr',
    'blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul',
  ].flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);

/** Elements whose text is not displayed. Their end tags are mandatory. */
const hiddenElements: ReadonlySet<string> = new Set(['noembed', 'noframes', 'script', 'style', 'template', 'title']);

/** Text at the beginning of an element. */
const marks: ReadonlyMap<string, string> = new Map([
  ['li', '- '],
  ['hr', '---'],
  ['td', ' '],
  ['th', ' '],
]);

/** Callbacks of the tokenizer. */
class Page implements TokenizerCallbacks {
  readonly html: string;
  readonly lines = new TextLines();
  #tag = '';
  #attribute = '';
  #value = '';
  /** Of the current tag: the target of a link, and the alternative text of an image. */
  #href = '';
  #alt = '';
  /** The element whose text is being skipped. */
  #skipped: string | null = null;
  /** Targets of the open links. */
  readonly #links: string[] = [];

  constructor(html: string) {
    this.html = html;
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end);
    this.#href = '';
    this.#alt = '';
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#name(start, end);
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.html.slice(start, end);
  }

  onattribentity(code: number): void {
    this.#value += String.fromCodePoint(code);
  }

  onattribend(): void {
    if (this.#attribute === 'href') this.#href = this.#value.trim();
    else if (this.#attribute === 'alt') this.#alt = this.#value;
  }

  onopentagend(): void {
    const tag = this.#tag;
    if (this.#skipped !== null) return;
    if (hiddenElements.has(tag)) this.#skipped = tag;
    else if (tag === 'br') this.lines.endLine();
    else if (tag === 'img') this.lines.add(this.#alt);
    else if (tag === 'a') this.#links.push(this.#href);
    else {
      this.lines.breakLines(breaks.get(tag) ?? 0);
      this.lines.add(marks.get(tag) ?? '');
    }
  }

  onselfclosingtag(): void {
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#name(start, end);
    if (this.#skipped === name) this.#skipped = null;
    else if (this.#skipped === null && name === 'a') this.#endLink();
    else if (this.#skipped === null) this.lines.breakLines(breaks.get(name) ?? 0);
  }

  ontext(start: number, end: number): void {
    if (this.#skipped === null) this.lines.add(this.html.slice(start, end));
  }

  ontextentity(code: number): void {
    if (this.#skipped === null) this.lines.add(String.fromCodePoint(code));
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}

  #endLink(): void {
    const href = this.#links.pop() ?? '';
    if (/^(?:https?|mailto|tel):/i.test(href) && !this.lines.endWith(href.replace(/^(?:mailto|tel):/i, '')))
      this.lines.add(` (${href})`);
  }

  #name(start: number, end: number): string {
    return this.html.slice(start, end).toLowerCase();
  }
}
