/** Parts of a generated page: its marked sections, and Markdown. */

const BEGIN = '<!-- generated: begin -->';
const END = '<!-- generated: end -->';

/** Columns of running text. Rows of tables are as long as their content. */
const MAX_COLUMNS = 150;

/**
 * Replaces the marked sections of a page, in their order.
 *
 * @param page what is stored now
 * @param sections Markdown without blank lines around it
 * @returns the page as it should be
 * @throws Error if the page has another number of sections than the generator
 */
export function withSections(page: string, sections: readonly string[]): string {
  const [head = '', ...parts] = page.split(BEGIN);
  if (parts.length !== sections.length)
    throw new Error(`it has ${parts.length} sections between ${BEGIN} and ${END}, and should have ${sections.length}`);
  const filled = parts.map((part, index) => {
    const end = part.indexOf(END);
    if (end === -1) throw new Error(`a section has no ${END}`);
    return `${BEGIN}\n\n${sections[index]}\n\n${part.slice(end)}`;
  });
  return head + filled.join('');
}

/** A table of Markdown. Cells may hold Markdown, except `|` and line ends, which are escaped. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), `|${header.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Text in the type of code, whatever it holds. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Breaks a paragraph into lines. A span of code stays whole. */
export function wrap(text: string, indent = ''): string {
  const words = text.match(/(?:`[^`]*`|\S)+/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && indent.length + line.length + 1 + word.length > MAX_COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}

/** The whole as one paragraph below the other. */
export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
