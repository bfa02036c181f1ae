/** Headings of Markdown, and the anchors that GitHub gives them. */

/** `Time limit` → `time-limit`, `_User` → `_user`. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors of a page: its headings, the second of one name with `-1`, and anchors written as HTML. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of withoutFences(markdown)) {
    for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
    const [, heading] = /^#{1,6} +(.*?) *#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(plainText(heading));
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** The lines of a page. Those between fences of code are empty. */
export function withoutFences(markdown: string): string[] {
  let isCode = false;
  return markdown.split('\n').map((line) => {
    if (!/^\s*(?:```|~~~)/.test(line)) return isCode ? '' : line;
    isCode = !isCode;
    return '';
  });
}

/** What is shown of a heading: links by their text, without marks of code and emphasis. */
function plainText(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(.)/g, '$1')
    .replace(/[`*]/g, '');
}
