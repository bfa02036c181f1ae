import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../kernel/operator-error.ts';
import { wholeText } from './whole-text.ts';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('a text that is read whole, in pieces that cut characters', async () => {
  const text = 'äöü€'.repeat(10);
  assert.equal(await wholeText(inPieces(Buffer.from(text), 3), 'schema.json'), text);
  assert.equal(await wholeText(inPieces(Buffer.alloc(0), 3), 'schema.json'), '');
});

test('a text that is too long is not read to its end', async () => {
  let given = 0;
  const endless = async function* () {
    for (;;) {
      given++;
      yield Buffer.alloc(1024 * 1024);
    }
  };
  await assert.rejects(wholeText(endless(), 'schema.json'), new OperatorError('schema.json is longer than it may be'));
  assert.equal(given, 65);
});
