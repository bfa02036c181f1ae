import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { invalid, obstacleTo, type Principal, type ToolObstacle } from '../access/index.ts';
import { advise } from '../crm/refusals.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { faultPlace } from '../observe/index.ts';
import { errorToReport, type Progress } from '../records/index.ts';
import type { CallerRequest } from '../requests/index.ts';
import type { System } from '../systems/index.ts';
import { EscapedAnswer, type ToolAnswer, type ToolResult } from './definition/answer.ts';
import { type Tool, type ToolCall, type ToolGroup, type ToolSet, toolGroups } from './definition/tool.ts';
import { describeError, errorText, type ToolError } from './errors/describe.ts';
import { MAX_RESULT_BYTES } from './results/page.ts';
import { shorten } from './results/truncate.ts';
import type { McpServices } from './services.ts';

/** Time limit of a call. */
export const CALL_TIMEOUT_MS = MINUTE_MS;

/** What the calls of one request share. */
export interface CallScope {
  readonly services: McpServices;
  readonly caller: CallerRequest;
  readonly system: System;
  /** `null` if the credential is invalid. */
  readonly principal: Principal | null;
  readonly tools: ToolSet;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** Logs an answered call that may have changed something. */
  readonly log: (tool: Tool, principal: Principal, statusCode: number, startedAt: number) => void;
}

/** Calls a tool. Errors become results, as the protocol demands. @throws ProtocolError (-32602) if the connection has no tool of that name */
export async function callTool(scope: CallScope, name: string, args: unknown): Promise<ToolResult | EscapedAnswer> {
  const tool = scope.tools.byName.get(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
  const started = performance.now();
  const { result, status } = await outcomeOf(scope, tool, args);
  if (!tool.hints.readOnlyHint) scope.log(tool, scope.principal ?? invalid, status, started);
  return result;
}

/** A result, and the HTTP status that REST would answer. */
interface Outcome {
  readonly result: ToolResult | EscapedAnswer;
  readonly status: number;
}

async function outcomeOf(scope: CallScope, tool: Tool, args: unknown): Promise<Outcome> {
  const { principal, services } = scope;
  const obstacle = principal ? obstacleTo(principal, tool) : 'credential';
  if (!principal || obstacle === 'credential') return { result: denial(tool, args), status: DENIED };
  if (obstacle) return { result: refusal(tool, args, obstacle), status: DENIED };
  const progress: Progress = { hasWritten: false };
  try {
    const answer = await runTool(scope, tool, principal, args, progress);
    return { result: answer instanceof EscapedAnswer ? fitting(answer, tool) : resultOf(answer, tool), status: 200 };
  } catch (thrown) {
    const error = errorToReport(thrown, progress);
    if (!(error instanceof ServiceError))
      services.conditions.met('a tool failed', { tool: tool.name, ...faultPlace(error) }, error);
    return { result: errorResult(error), status: error instanceof ServiceError ? error.status : 500 };
  }
}

const DENIED = serviceError('permissionDenied', '', '').status;

/**
 * Runs a tool under the time limit. The system is held until the tool ends, even if its caller was answered earlier.
 * @throws timeout (124) if a read took too long or the client disconnected; outcomeUnknown if it may have written
 */
function runTool(
  { services, caller, system, gone, tools: selection }: CallScope,
  tool: Tool,
  principal: Principal,
  args: unknown,
  progress: Progress,
): Promise<ToolAnswer> {
  const { users, files, automation, addresses, conditions } = services;
  const ending = new AbortController();
  const context = caller.contextOf(principal);
  system.hold();
  const call: ToolCall = {
    ...context,
    // Own progress: a request may hold several calls, each with its own outcome.
    progress,
    system,
    services: { users, files, automation, addresses, conditions },
    signal: ending.signal,
    tools: () => [...selection.byName.values()],
  };
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      ending.abort();
      // The tool keeps running and may still write.
      reject(serviceError(tool.hints.readOnlyHint ? 'timeout' : 'outcomeUnknown'));
    };
    if (gone.aborted) giveUp();
    else gone.addEventListener('abort', giveUp);
    const timer = setTimeout(giveUp, CALL_TIMEOUT_MS);
    const end = () => {
      clearTimeout(timer);
      gone.removeEventListener('abort', giveUp);
      system.release();
    };
    tool.run(call, args).then(
      (answer) => {
        end();
        resolve(answer);
      },
      (error) => {
        end();
        reject(error);
      },
    );
  });
}

/**
 * Returns a tool's answer as compact JSON. Lists limit their own size; any other answer that is too long becomes an error, unless the tool has
 * written: then it is shortened to the ids of what was written. Reference: agents.md#answers.
 */
export function resultOf(
  value: JsonValue,
  { hints, answerBytes = MAX_RESULT_BYTES }: Pick<Tool, 'hints' | 'answerBytes'>,
): ToolResult {
  const maxBytes = answerBytes + FRAME_BYTES;
  const text = JSON.stringify(value);
  if (text.length <= maxBytes / 3 || Buffer.byteLength(text) <= maxBytes) return { content: [{ type: 'text', text }] };
  if (hints.readOnlyHint) return errorResult(serviceError('resultTooLarge'));
  return { content: [{ type: 'text', text: JSON.stringify(shorten(value, maxBytes)) }] };
}

/** Like `resultOf`, for an answer that is text already. */
function fitting(answer: EscapedAnswer, tool: Tool): ToolResult | EscapedAnswer {
  const { answerBytes = MAX_RESULT_BYTES } = tool;
  const maxBytes = answerBytes + FRAME_BYTES;
  if (answer.escaped.length <= maxBytes / 3 || Buffer.byteLength(answer.text()) <= maxBytes) return answer;
  return resultOf(JSON.parse(answer.text()), tool);
}

/** Room for the frame around a list, which lists do not count. */
const FRAME_BYTES = 1_000;

/** Returns the error result for an error of the catalogue or a fault. */
function errorResult(error: unknown): ToolResult {
  return failure(describeError(error));
}

function failure(shown: ToolError): ToolResult {
  return { content: [{ type: 'text', text: errorText(shown) }], structuredContent: { ...shown }, isError: true };
}

/** The result for a wrong credential: exactly this text, without advice. Reference: agents.md#errors-for-agents. */
function denial(tool: Tool, args: unknown): ToolResult {
  const { action, className } = tool.denies(args);
  const { code = 119, message: error } = serviceError('permissionDenied', action, className);
  return { content: [{ type: 'text', text: error }], structuredContent: { code, error }, isError: true };
}

/** The result for a signed-in user who may not use the tool. */
function refusal(tool: Tool, args: unknown, obstacle: Exclude<ToolObstacle, 'credential' | null>): ToolResult {
  const { action, className } = tool.denies(args);
  const error = advise(serviceError('permissionDenied', action, className), {
    expected: reasonOf(tool, obstacle),
    next: 'Get-My-Access',
  });
  return errorResult(error);
}

function reasonOf({ name, needs }: Tool, obstacle: Exclude<ToolObstacle, 'credential' | null>): string {
  if (obstacle === 'role') return `${name} is an advanced tool: it takes the role Admin`;
  if (obstacle === 'switch') return `${name} is an advanced tool: the row McpAdvancedTools of Config opens these to users`;
  return `${name} takes ${needs.join(' and ')}; ${obstacle.lacks} is not given: the user needs it in mcpPermissions, the agent when he signs in, and the row McpSignIn of Config must not close sign-in`;
}

/** All tools and their subsets, cached because lists do not depend on the caller. */
export class ToolRegistry {
  readonly #tools: readonly Tool[];
  readonly #all: ToolSet;
  readonly #parts = new Map<string, ToolSet>();

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#all = toolSetOf(tools);
  }

  /**
   * Returns the tools of some groups.
   * @param toolsets comma-separated group names; unknown ones are ignored, and if none is known, all tools are returned
   */
  select(toolsets: string | undefined): ToolSet {
    if (toolsets === undefined) return this.#all;
    const names = new Set(toolsets.split(',', 100).map((name) => name.trim().toLowerCase()));
    const groups = toolGroups.filter((group) => names.has(group));
    if (groups.length === 0) return this.#all;
    const key = groups.join();
    let part = this.#parts.get(key);
    if (!part) {
      const requested: ReadonlySet<ToolGroup> = new Set(groups);
      part = toolSetOf(this.#tools.filter(({ group }) => requested.has(group)));
      if (this.#parts.size < MAX_CACHED_SETS) this.#parts.set(key, part);
    }
    return part;
  }
}

/** Size limit of the cache: clients can request any combination of groups. */
const MAX_CACHED_SETS = 100;

function toolSetOf(tools: readonly Tool[]): ToolSet {
  return {
    list: {
      tools: tools.map(({ name, description, inputSchema, hints }) => ({
        name,
        description,
        inputSchema: inputSchema as { type: 'object' },
        annotations: { ...hints },
      })),
    },
    byName: new Map(tools.map((tool) => [tool.name, tool])),
  };
}
