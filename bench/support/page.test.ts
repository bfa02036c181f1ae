import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { markdownOf, withSection } from './page.ts';

describe('tables of the bench in a document', () => {
  it('replace the section of their workload, and nothing else', () => {
    const page =
      'a\n<!-- bench crud: begin -->\nold\n<!-- bench crud: end -->\n<!-- bench parse: begin -->\n<!-- bench parse: end -->\n';
    assert.equal(
      withSection(page, 'crud', ['one', 'two']),
      'a\n<!-- bench crud: begin -->\n\none\n\ntwo\n\n<!-- bench crud: end -->\n<!-- bench parse: begin -->\n<!-- bench parse: end -->\n',
    );
    assert.throws(() => withSection(page, 'search', []), /no section between <!-- bench search: begin -->/);
  });

  it('are Markdown with every column of each row', () => {
    const table = {
      heading: 'crud: 10 records',
      columns: ['', 'req/s', 'ratio'],
      rows: [
        ['read | one', '1,000'],
        ['list', '2', '0.9×'],
      ],
    };
    assert.equal(
      markdownOf(table),
      '*crud: 10 records*\n\n|  | req/s | ratio |\n|---|--:|--:|\n| read \\| one | 1,000 |  |\n| list | 2 | 0.9× |',
    );
  });
});
