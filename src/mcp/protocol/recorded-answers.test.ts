import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { JsonObject } from '../../kernel/json.ts';
import { EscapedAnswer, type ToolResult } from '../definition/answer.ts';
import type { ToolSet } from '../definition/tool.ts';
import type { Exchange } from './exchange.ts';
import { ProtocolLibrary } from './library.ts';
import { McpProtocol } from './protocol.ts';
import { RecordedAnswers } from './recorded-answers.ts';

const log = pino({ level: 'silent' });
const toolsOf = (...names: string[]): ToolSet => ({
  list: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
  byName: new Map(names.map((name) => [name, {}])) as unknown as ToolSet['byName'],
});
const plain = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
const hostile = 'gap of the id "gap of the text" \\ \n ש \u2028 {"gap":"of the structured content"} $& $1';

const results: (ToolResult | EscapedAnswer)[] = [
  plain('{"results":[]}'),
  plain(''),
  plain(hostile),
  new EscapedAnswer(JSON.stringify(hostile).slice(1, -1)),
  { ...plain(hostile), structuredContent: { code: 101, error: hostile, inDoubt: true }, isError: true },
];
const ids = [1, 0, -7, 2 ** 53 - 1, '', 'a', hostile];
const newest = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

/** A request of either family, as `McpProtocol` answers it directly. */
function exchange(era: 'newest' | 'older', id: string | number, tools: ToolSet, result?: ToolResult | EscapedAnswer): Exchange {
  const method = result ? 'tools/call' : 'tools/list';
  const params: JsonObject = { ...(result && { name: 'A', arguments: { a: 1 } }), ...(era === 'newest' && { _meta: newest }) };
  const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(result && { 'mcp-name': 'A' }) };
  return {
    headers: { 'content-type': 'application/json', ...(era === 'newest' && named) },
    body: { jsonrpc: '2.0', id, method, params },
    tools,
    call: async () => result ?? assert.fail('no tool is called'),
  };
}

for (const era of ['newest', 'older'] as const)
  test(`what is answered directly is what the library answers, byte for byte: ${era}`, async () => {
    const protocol = await McpProtocol.open(log);
    const library = new ProtocolLibrary(log);
    const sets = [toolsOf('A', 'B'), toolsOf('A'), toolsOf()];
    const exchanges = ids.flatMap((id) => [
      ...results.map((result) => exchange(era, id, sets[0] as ToolSet, result)),
      ...sets.map((tools) => exchange(era, id, tools)),
    ]);
    for (const each of exchanges) {
      const answer = await protocol.answer(each);
      assert.equal(typeof answer, 'string', JSON.stringify(each.body));
      assert.equal(answer, await (await library.answer(each)).text());
    }
  });

test('an answer without its gaps, or that has them twice, is a fault at the start', async () => {
  for (const text of ['{}', '"gap of the text" "gap of the text" "gap of the id"'])
    await assert.rejects(
      RecordedAnswers.record('older', async () => text),
      /without its gaps/,
    );
});
