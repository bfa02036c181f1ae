import type { TokenizerCallbacks } from 'htmlparser2';
import { TextLines } from './text-lines.ts';

/** Characters of a page that are looked at: nobody reads plain text beyond. */
const MAX_LENGTH = 500_000;

/**
 * The text of a page for readers of plain text: paragraphs, rows and list items on lines of their own, addresses of links in brackets. It
 * takes time by the length of the page, whatever stands in it.
 */
export async function plainText(html: string): Promise<string> {
  // Loaded when the first page comes. Its tokenizer alone, since the parser takes the square of the depth of a page.
  const { Tokenizer } = await import('htmlparser2');
  const page = new Page(html.slice(0, MAX_LENGTH));
  const tokenizer = new Tokenizer({ decodeEntities: true }, page);
  tokenizer.write(page.html);
  tokenizer.end();
  return page.lines.text();
}

/** How many line breaks are before and after an element, by its name. */
const breaks: ReadonlyMap<string, number> = new Map(
  [
    'address article aside center dd div dt fieldset figcaption figure footer form header hr li main nav section tr',
    'blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul',
  ].flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);

/** Elements whose text nobody sees. Their ends may not be left out. */
const unseen: ReadonlySet<string> = new Set(['noembed', 'noframes', 'script', 'style', 'template', 'title']);

/** What stands at the beginning of an element. */
const marks: ReadonlyMap<string, string> = new Map([
  ['li', '- '],
  ['hr', '---'],
  ['td', ' '],
  ['th', ' '],
]);

/** What the tokenizer comes upon, on its way through a page. */
class Page implements TokenizerCallbacks {
  readonly html: string;
  readonly lines = new TextLines();
  #tag = '';
  #attribute = '';
  #value = '';
  /** Of the tag: where a link leads; what stands for a picture. */
  #href = '';
  #alt = '';
  /** The element whose text is passed over. */
  #unseen: string | null = null;
  /** Of the links that are open. */
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
    if (this.#unseen !== null) return;
    if (unseen.has(tag)) this.#unseen = tag;
    else if (tag === 'br') this.lines.end();
    else if (tag === 'img') this.lines.add(this.#alt);
    else if (tag === 'a') this.#links.push(this.#href);
    else {
      this.lines.apart(breaks.get(tag) ?? 0);
      this.lines.add(marks.get(tag) ?? '');
    }
  }

  onselfclosingtag(): void {
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#name(start, end);
    if (this.#unseen === name) this.#unseen = null;
    else if (this.#unseen === null && name === 'a') this.#endLink();
    else if (this.#unseen === null) this.lines.apart(breaks.get(name) ?? 0);
  }

  ontext(start: number, end: number): void {
    if (this.#unseen === null) this.lines.add(this.html.slice(start, end));
  }

  ontextentity(code: number): void {
    if (this.#unseen === null) this.lines.add(String.fromCodePoint(code));
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
