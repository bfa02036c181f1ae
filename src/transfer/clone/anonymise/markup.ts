/** Tags, comments and declarations, and character references. */
const marks = /<[^<>]*>|&(?:#\d{1,8}|#x[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});/gi;
/** A name ends at a space, a slash or the end: `<dana@firm.co.il>` is no element. */
const tag = /^<(\/?)([a-z][a-z0-9]*)(?=[\s/>])[^<>]*?(\/?)>$/i;
/** https://html.spec.whatwg.org/#elements-3, and older ones that editors write. Other names may be those of persons: `<Dana Levi>`. */
const elements: ReadonlySet<string> = new Set(
  [
    'html head body title base link meta style script noscript template slot canvas',
    'article section nav aside h1 h2 h3 h4 h5 h6 hgroup header footer address main search',
    'p hr pre blockquote ol ul menu li dl dt dd figure figcaption div center',
    'a em strong small s cite q dfn abbr ruby rt rp data time code var samp kbd sub sup i b u mark bdi bdo span br wbr font big tt strike',
    'ins del picture source img iframe embed object param video audio track map area svg math path',
    'table caption colgroup col tbody thead tfoot tr td th',
    'form label input button select datalist optgroup option textarea output progress meter fieldset legend',
    'details summary dialog',
  ].flatMap((line) => line.split(' ')),
);
/** References to characters of which texts do not consist. */
const plain: ReadonlySet<string> = new Set(['&nbsp;', '&amp;', '&lt;', '&gt;', '&quot;', '&apos;']);

/**
 * Anonymises the text of markup. Elements of HTML stay, without their attributes, which may hold addresses and texts; comments and declarations go.
 * What else stands in angle brackets is text.
 * @param anonymous anonymises a plain text
 */
export function anonymousMarkup(anonymous: (text: string) => string, markup: string): string {
  let end = 0;
  let result = '';
  for (const { 0: mark, index } of markup.matchAll(marks)) {
    result += anonymous(markup.slice(end, index)) + (markOf(mark) ?? anonymous(mark));
    end = index + mark.length;
  }
  return result + anonymous(markup.slice(end));
}

/** @returns what becomes of a mark; `null` if it is text */
function markOf(mark: string): string | null {
  if (mark.startsWith('&')) return plain.has(mark.toLowerCase()) ? mark : '';
  if (/^<[!?]/.test(mark)) return '';
  const [, start = '', name = '', end = ''] = tag.exec(mark) ?? [];
  return elements.has(name.toLowerCase()) ? `<${start}${name}${end}>` : null;
}
