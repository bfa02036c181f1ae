import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formOf } from './format.ts';

for (const [start, name, expected] of [
  ['{"results":[{"a":1}]}', '', 'parse results'],
  ['\uFEFF\n { "results"\t: [\n', '', 'parse results'],
  ['{"count":12,"results":[', '', 'parse results'],
  ['{"results":{"a":1}}', '', 'ndjson lines'],
  ['{"name":"x","results":[]}', '', 'ndjson lines'],
  ['[{"results":[]}]', '', 'json list'],
  ['{"a":1}\n{"a":2}\n', 'rows.csv', 'ndjson lines'],
  ['{"o":{"_id":1}}\n', '', 'ndjson lines'],
  ['{"_id":{"$oid":"5f"},"n":1}\n', '', 'mongoexport file'],
  ['{"n":1,"_id":"x"}\n{', '', 'mongoexport file'],
  ['[{"_id":"x"},\n', '', 'mongoexport list'],
  ['Name,Age\n', '', 'csv rows'],
  ['Name,Age\n', 'rows.ndjson', 'ndjson lines'],
  ['', '', 'csv rows'],
] as const)
  test(`${JSON.stringify(start)} in ${name || 'any file'} is ${expected}`, () => {
    const { format, holder } = formOf('auto', start, name, false);
    assert.equal(`${format} ${holder}`, expected);
  });

test('a table with a field `results` takes lines that begin as an answer of Parse does', () => {
  assert.deepEqual(formOf('auto', '{"results":[', '', true), { format: 'ndjson', holder: 'lines' });
  assert.deepEqual(formOf('parse', '{"results":[', '', true), { format: 'parse', holder: 'results' });
});

test('what is no list is no JSON file', () => {
  assert.throws(() => formOf('json', '{"a":1}', '', false), /neither a list/);
});
