import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, type RequestId } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { EscapedAnswer, type ToolResult } from '../definition/answer.ts';
import type { ToolSet } from '../definition/tool.ts';
import type { Era } from './direct-request.ts';
import { type Exchange, NEWEST_REVISION } from './exchange.ts';

/** Asks the library. @returns the JSON text of its answer */
export type Ask = (exchange: Exchange) => Promise<string>;

/** The texts between the gaps of an answer. */
type Recorded = readonly string[];

/** What stands in the gaps while an answer is recorded. */
const gaps = { id: 'gap of the id', text: 'gap of the text', structured: { gap: 'of the structured content' } } as const;

const results = {
  plain: { content: [{ type: 'text', text: gaps.text }] },
  error: { content: [{ type: 'text', text: gaps.text }], structuredContent: gaps.structured, isError: true },
} satisfies Record<string, ToolResult>;

/**
 * The library's answers in one family of revisions, recorded once: they differ from request to request only in the id, the text of a result and the
 * structured content of an error.
 */
export class RecordedAnswers {
  readonly #plain: Recorded;
  readonly #error: Recorded;
  readonly #listOf: (tools: ToolSet) => Promise<Recorded>;

  private constructor(plain: Recorded, error: Recorded, listOf: (tools: ToolSet) => Promise<Recorded>) {
    this.#plain = plain;
    this.#error = error;
    this.#listOf = memoByObject(listOf);
  }

  static async record(era: Era, ask: Ask): Promise<RecordedAnswers> {
    const recorded = async (exchange: Exchange, ...order: unknown[]) => cutAt(await ask(exchange), order);
    const ofCall = (result: ToolResult) => exchangeOf(era, 'tools/call', noTools, async () => result);
    return new RecordedAnswers(
      await recorded(ofCall(results.plain), gaps.text, gaps.id),
      await recorded(ofCall(results.error), gaps.text, gaps.structured, gaps.id),
      (tools) => recorded(exchangeOf(era, 'tools/list', tools), gaps.id),
    );
  }

  /** Returns the answer to a call as JSON text. */
  ofCall(result: ToolResult | EscapedAnswer, id: RequestId): string {
    if (result instanceof EscapedAnswer) return this.#plainAnswer(`"${result.escaped}"`, id);
    const { content, structuredContent } = result;
    const text = JSON.stringify(content[0].text);
    if (structuredContent === undefined) return this.#plainAnswer(text, id);
    const [start, afterText, afterStructured, end] = this.#error;
    return `${start}${text}${afterText}${JSON.stringify(structuredContent)}${afterStructured}${JSON.stringify(id)}${end}`;
  }

  #plainAnswer(text: string, id: RequestId): string {
    const [start, afterText, end] = this.#plain;
    return `${start}${text}${afterText}${JSON.stringify(id)}${end}`;
  }

  /** Returns the answer to a request for the list of tools as JSON text. */
  async ofList(tools: ToolSet, id: RequestId): Promise<string> {
    const [start, end] = await this.#listOf(tools);
    return `${start}${JSON.stringify(id)}${end}`;
  }
}

const noTools: ToolSet = { list: { tools: [] }, byName: new Map() };
const noCall = (): never => {
  throw new Error('the list of tools calls none');
};

/** Returns a request as clients of the family send it. */
function exchangeOf(era: Era, method: string, tools: ToolSet, call: Exchange['call'] = noCall): Exchange {
  const name = method === 'tools/call' ? { name: 'recorded' } : {};
  const message = { jsonrpc: '2.0', id: gaps.id, method };
  const headers = { 'content-type': 'application/json' };
  if (era === 'older') return { headers, body: { ...message, params: name }, tools, call };
  const _meta: JsonObject = { [PROTOCOL_VERSION_META_KEY]: NEWEST_REVISION, [CLIENT_CAPABILITIES_META_KEY]: {} };
  const copied = { 'mcp-protocol-version': NEWEST_REVISION, 'mcp-method': method, ...(name.name && { 'mcp-name': name.name }) };
  return { headers: { ...headers, ...copied }, body: { ...message, params: { ...name, _meta } }, tools, call };
}

/** Cuts an answer at values that it holds once each, in this order. @throws Error if it does not */
function cutAt(answer: string, values: readonly unknown[]): Recorded {
  const texts: string[] = [];
  let rest = answer;
  for (const value of values) {
    const [before, after, ...more] = rest.split(JSON.stringify(value));
    if (before === undefined || after === undefined || more.length > 0) throw new Error(`an answer without its gaps: ${answer}`);
    texts.push(before);
    rest = after;
  }
  return [...texts, rest];
}
