import assert from 'node:assert/strict';
import { test } from 'node:test';
import { code, table, withSections, wrap } from './page.ts';

const begin = '<!-- generated: begin -->';
const end = '<!-- generated: end -->';

test('marked sections are replaced in their order; what stands around them stays', () => {
  const page = `# Page\n\n${begin}\nold\n${end}\n\nText.\n\n${begin}\n${end}\n`;
  const filled = withSections(page, ['one', 'two']);
  assert.equal(filled, `# Page\n\n${begin}\n\none\n\n${end}\n\nText.\n\n${begin}\n\ntwo\n\n${end}\n`);
  assert.equal(withSections(filled, ['one', 'two']), filled);
});

test('a page that has other sections than the generator is refused', () => {
  assert.throws(() => withSections('# Page\n', ['one']), /has 0 sections .* should have 1/);
  assert.throws(() => withSections(`${begin}\n`, ['one']), /has no/);
});

test('cells of tables are on one line, with bars escaped', () => {
  assert.equal(table(['A', 'B'], [['1|2', 'x\ny']]), '| A | B |\n|---|---|\n| 1\\|2 | x y |');
});

test('paragraphs have 150 columns at most, and code stays whole', () => {
  const text = `${'word '.repeat(40)}\`${'a b '.repeat(30)}\``;
  const lines = wrap(text).split('\n');
  assert.equal(lines.length, 3);
  assert.ok(lines.every((line) => line.length <= 150));
  assert.equal(code('a`b'), '`` a`b ``');
});
