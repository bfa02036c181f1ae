import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../../src/kernel/json.ts';
import { formatOf } from '../../model/format.ts';
import { cellText, fieldValue, isBlank, lineOf, textOfHtml } from './cell-text.ts';

const context = { format: formatOf('he-IL', 'Asia/Jerusalem', ''), yes: 'כן', no: 'לא' };
const names = { Tags: { t1: 'VIP' } };
const text = (type: FieldModel['type'], value: JsonValue) =>
  cellText(value, { name: 'F', type, isReadOnly: false, isIndexed: false }, names, context);
const tag = (objectId: string) => ({ __type: 'Pointer', className: 'Tags', objectId });

describe('the text of a cell', () => {
  it('is that of its type', () => {
    assert.equal(text('Number', 1234.5), '1,234.5');
    assert.equal(text('Boolean', false), 'לא');
    assert.equal(text('Date', { __type: 'Date', iso: '2026-10-04T21:00:00.000Z' }), '05.10.2026');
    assert.equal(text('Date', '2026-10-05T08:30:00.000Z'), '05.10.2026, 11:30');
    assert.equal(text('Pointer', tag('t1')), 'VIP');
    assert.equal(text('Pointer', tag('gone')), 'gone');
    assert.equal(text('Array', [tag('t1'), 'x', 3, [1]]), 'VIP, x, 3, [1]');
    assert.equal(text('Object', { a: [1] }), '{"a":[1]}');
    assert.equal(text('File', { __type: 'File', name: '0123456789abcdef_my_photo.png', url: 'javascript:0' }), 'my_photo.png');
    assert.equal(text('String', '<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
  });

  it('is none where there is no value', () => {
    for (const value of [null, '', []] as JsonValue[]) {
      assert.ok(isBlank(value));
      assert.equal(text('String', value), '');
    }
    assert.equal(fieldValue({}, 'constructor'), null);
  });

  it('is one line, cut between characters', () => {
    assert.equal(lineOf(' a\n\tb '), 'a b');
    assert.equal(lineOf('שלום \u202eevil \u2066386'), 'שלום evil 386');
    const cut = lineOf('👩'.repeat(10_000));
    assert.ok(!/\p{Surrogate}/u.test(cut) && cut.endsWith('…') && cut.length < 500);
  });

  it('of HTML is what the HTML shows', () => {
    assert.equal(lineOf(textOfHtml('<p>שלום <b>עולם</b></p>&nbsp;&lt;b&gt;')), 'שלום עולם <b>');
  });
});
