/** How code is shown: commands, their comments and what they print. Without a highlighter there are no inline styles. */

/** The language of a block that names none: most are commands. */
export function languageOf(code: string): string {
  if (/^\s*[[{]/.test(code)) return 'json';
  if (/^\s*</.test(code)) return 'html';
  return 'sh';
}

/**
 * Marks comments and printed lines. The block takes the focus, because a long line scrolls. A printed line begins with `→`, perhaps as a comment; it is not copied with the commands.
 *
 * @returns HTML of the block.
 */
export function codeHtml(code: string): string {
  const lines = code.replace(/\n$/, '').split('\n').map(lineHtml);
  return `<pre v-pre tabindex="0"><code>${lines.join('\n')}</code></pre>`;
}

function lineHtml(line: string): string {
  if (/^\s*(?:# )?→/.test(line)) return `<span class="output vp-copy-ignore">${escapeHtml(line)}</span>`;
  const [comment = ''] = /(?:^|\s{2,})(?:#|\/\/) .*$/.exec(line) ?? [];
  if (comment === '') return escapeHtml(line);
  return `${escapeHtml(line.slice(0, -comment.length))}<span class="comment">${escapeHtml(comment)}</span>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Code within a sentence. Braces in it are no expressions of Vue. */
export function inlineCodeHtml(code: string): string {
  return `<code v-pre>${escapeHtml(code)}</code>`;
}
