import type { Logger } from '../../observe/index.ts';
import { directRequest, type Era } from './direct-request.ts';
import { type Exchange, wantsStream } from './exchange.ts';
import { ProtocolLibrary } from './library.ts';
import { RecordedAnswers } from './recorded-answers.ts';

/** The Model Context Protocol over HTTP, without sessions. Reference: agents.md#protocol. */
export class McpProtocol {
  readonly #library: ProtocolLibrary;
  readonly #recorded: Readonly<Record<Era, RecordedAnswers>>;

  private constructor(library: ProtocolLibrary, recorded: Readonly<Record<Era, RecordedAnswers>>) {
    this.#library = library;
    this.#recorded = recorded;
  }

  static async open(log: Logger): Promise<McpProtocol> {
    const library = new ProtocolLibrary(log);
    const ask = async (exchange: Exchange) => (await library.answer(exchange)).text();
    const recorded = { newest: await RecordedAnswers.record('newest', ask), older: await RecordedAnswers.record('older', ask) };
    return new McpProtocol(library, recorded);
  }

  /** Answers a request in the revision that it states: 2026-07-28, or 2024-11-05 to 2025-11-25. @returns a string is JSON with status 200 */
  async answer(exchange: Exchange): Promise<Response | string> {
    const direct = wantsStream(exchange.headers.accept) ? null : directRequest(exchange);
    if (!direct) return this.#library.answer(exchange);
    const { era, id, call } = direct;
    const recorded = this.#recorded[era];
    if (!call) return recorded.ofList(exchange.tools, id);
    return recorded.ofCall(await exchange.call(call.name, call.args), id);
  }
}
