/** Comments of TypeScript and JavaScript, told from code line by line. */

/**
 * The comment on each line of a source file, empty if it has none. A `//` behind code counts if the code before it has no open quotes; comments inside
 * template literals are not told apart.
 */
export function commentLines(text: string): string[] {
  let isInBlock = false;
  return text.split('\n').map((line) => {
    if (isInBlock) {
      isInBlock = !line.includes('*/');
      return line;
    }
    // A block that ends on its line may be part of code: its line counts only if the comment begins it.
    if (/^\s*\{?\/\*/.test(line)) {
      isInBlock = !line.includes('*/');
      return line;
    }
    if (/^\s*\/\//.test(line)) return line;
    const [trailing] = /\s\/\/ .*$/.exec(line) ?? [];
    return trailing !== undefined && !hasOpenQuote(line.slice(0, -trailing.length)) ? trailing : '';
  });
}

function hasOpenQuote(code: string): boolean {
  return ["'", '"', '`'].some((quote) => (code.split(quote).length - 1) % 2 === 1);
}
