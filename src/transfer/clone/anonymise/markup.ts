/** Tags, comments and declarations, and character references. */
const marks = /<[^<>]*>|&(?:#\d{1,8}|#x[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});/gi;
const tag = /^<(\/?)([a-z][\w:.-]*)[^<>]*?(\/?)>$/i;
/** References to characters of which texts do not consist. */
const plain: ReadonlySet<string> = new Set(['&nbsp;', '&amp;', '&lt;', '&gt;', '&quot;', '&apos;']);

/**
 * Anonymises the text of markup. Its elements stay, without their attributes, which may hold addresses and texts; comments and declarations go.
 * @param anonymous anonymises a plain text
 */
export function anonymousMarkup(anonymous: (text: string) => string, markup: string): string {
  let end = 0;
  let result = '';
  for (const { 0: mark, index } of markup.matchAll(marks)) {
    result += anonymous(markup.slice(end, index)) + markOf(mark);
    end = index + mark.length;
  }
  return result + anonymous(markup.slice(end));
}

function markOf(mark: string): string {
  if (mark.startsWith('&')) return plain.has(mark.toLowerCase()) ? mark : '';
  const [, start = '', name, end = ''] = tag.exec(mark) ?? [];
  return name === undefined ? '' : `<${start}${name}${end}>`;
}
