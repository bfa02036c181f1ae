import { type CallToolResult, type ListToolsResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { invalid, obstacleTo, type Principal, type ToolObstacle } from '../access/index.ts';
import { advise } from '../crm/refusals.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { faultPlace } from '../observe/index.ts';
import { endOf, type Progress } from '../records/index.ts';
import type { CallerRequest } from '../requests/index.ts';
import type { System } from '../systems/index.ts';
import { type Tool, type ToolCall, type ToolGroup, toolGroups } from './definition/tool.ts';
import { describeError, errorText, type ToolError } from './errors/describe.ts';
import { MAX_RESULT_BYTES } from './results/page.ts';
import { shortForm } from './results/truncate.ts';
import type { McpServices } from './services.ts';

/** Milliseconds that a call may take. */
const CALL_TIMEOUT_MS = MINUTE_MS;

/** What the calls of a request have in common. */
export interface CallScope {
  readonly services: McpServices;
  readonly caller: CallerRequest;
  readonly system: System;
  /** `null`: what was sent is nobody's. */
  readonly principal: Principal | null;
  readonly tools: ToolSet;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  /** Logs a call that may have changed something, when it is answered. */
  readonly log: (tool: Tool, principal: Principal, statusCode: number, startedAt: number) => void;
}

/**
 * Calls a tool for who asks. Whatever goes wrong in it is a result, as the protocol wants it.
 * @throws ProtocolError (-32602) where the connection has no tool of that name
 */
export async function callTool(scope: CallScope, name: string, args: unknown): Promise<CallToolResult> {
  const tool = scope.tools.byName.get(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
  const started = performance.now();
  const { result, status } = await outcomeOf(scope, tool, args);
  if (!tool.hints.readOnlyHint) scope.log(tool, scope.principal ?? invalid, status, started);
  return result;
}

/** A result, and the HTTP status that REST would have answered with. */
interface Outcome {
  readonly result: CallToolResult;
  readonly status: number;
}

async function outcomeOf(scope: CallScope, tool: Tool, args: unknown): Promise<Outcome> {
  const { principal, services } = scope;
  const obstacle = principal ? obstacleTo(principal, tool) : 'credential';
  if (!principal || obstacle === 'credential') return { result: denial(tool, args), status: DENIED };
  if (obstacle) return { result: refusal(tool, args, obstacle), status: DENIED };
  const progress: Progress = { hasWritten: false };
  try {
    return { result: resultOf(await runTool(scope, tool, principal, args, progress), tool), status: 200 };
  } catch (thrown) {
    const error = endOf(thrown, progress);
    if (!(error instanceof ServiceError))
      services.conditions.met('a tool failed', { tool: tool.name, ...faultPlace(error) }, error);
    return { result: errorResult(error), status: error instanceof ServiceError ? error.status : 500 };
  }
}

const DENIED = serviceError('permissionDenied', '', '').status;

/**
 * The system stays open until the tool has ended, though its caller may have been answered before.
 * @throws timeout (124) when a read has taken too long, or nobody waits for it any more; outcomeUnknown where it may have written
 */
function runTool(
  { services, caller, system, gone, tools: selection }: CallScope,
  tool: Tool,
  principal: Principal,
  args: unknown,
  progress: Progress,
): Promise<JsonValue> {
  const { users, files, automation, addresses, conditions } = services;
  const ending = new AbortController();
  const context = caller.contextOf(principal);
  system.hold();
  const call: ToolCall = {
    ...context,
    // A request may hold several calls, each with an end of its own.
    progress,
    system,
    services: { users, files, automation, addresses, conditions },
    signal: ending.signal,
    tools: () => [...selection.byName.values()],
  };
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      ending.abort();
      // It goes on, and may write yet.
      reject(serviceError(tool.hints.readOnlyHint ? 'timeout' : 'outcomeUnknown'));
    };
    if (gone.aborted) giveUp();
    else gone.addEventListener('abort', giveUp);
    const timer = setTimeout(giveUp, CALL_TIMEOUT_MS);
    const run = tool.run(call, args);
    run.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      gone.removeEventListener('abort', giveUp);
      system.release();
    });
  });
}

/**
 * What a tool answers, as compact JSON. Lists keep within the bytes themselves; what is no list and too long is refused, unless the tool
 * has written: then it is cut to what names what was written.
 */
export function resultOf(
  value: JsonValue,
  { hints, answerBytes = MAX_RESULT_BYTES }: Pick<Tool, 'hints' | 'answerBytes'>,
): CallToolResult {
  const most = answerBytes + FRAME_BYTES;
  const text = JSON.stringify(value);
  if (text.length <= most / 3 || Buffer.byteLength(text) <= most) return { content: [{ type: 'text', text }] };
  if (hints.readOnlyHint) return errorResult(serviceError('resultTooLarge'));
  return { content: [{ type: 'text', text: JSON.stringify(shortForm(value, most)) }] };
}

/** Lists are measured without their frame. */
const FRAME_BYTES = 1_000;

/** An error of the catalogue, or a fault, as an agent hears of it. */
function errorResult(error: unknown): CallToolResult {
  return failure(describeError(error));
}

function failure(shown: ToolError): CallToolResult {
  return { content: [{ type: 'text', text: errorText(shown) }], structuredContent: { ...shown }, isError: true };
}

/** SPEC "Authentication: Agent-tool layer" 3: wrong credentials get this text and nothing else. */
function denial(tool: Tool, args: unknown): CallToolResult {
  const { action, className } = tool.denies(args);
  const { code = 119, message: error } = serviceError('permissionDenied', action, className);
  return { content: [{ type: 'text', text: error }], structuredContent: { code, error }, isError: true };
}

/** The refusal of a user who signed in and may not use a tool. */
function refusal(tool: Tool, args: unknown, obstacle: Exclude<ToolObstacle, 'credential' | null>): CallToolResult {
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

/** The tools that a connection sees, ready to be listed and looked up. */
export interface ToolSet {
  readonly list: ListToolsResult;
  readonly byName: ReadonlyMap<string, Tool>;
}

/** All tools, and parts of them. Made once: the list is the same for everybody. */
export class ToolRegistry {
  readonly #tools: readonly Tool[];
  readonly #all: ToolSet;
  readonly #parts = new Map<string, ToolSet>();

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#all = selectionOf(tools);
  }

  /**
   * The tools of some groups.
   * @param toolsets names of groups with commas between; unknown ones are passed over, all tools where none is known
   */
  select(toolsets: string | undefined): ToolSet {
    if (toolsets === undefined) return this.#all;
    const names = new Set(toolsets.split(',', 100).map((name) => name.trim().toLowerCase()));
    const groups = toolGroups.filter((group) => names.has(group));
    if (groups.length === 0) return this.#all;
    const key = groups.join();
    let part = this.#parts.get(key);
    if (!part) {
      const wanted: ReadonlySet<ToolGroup> = new Set(groups);
      part = selectionOf(this.#tools.filter(({ group }) => wanted.has(group)));
      if (this.#parts.size < MAX_REMEMBERED_SETS) this.#parts.set(key, part);
    }
    return part;
  }
}

/** So many parts are remembered; a client may ask for as many as there are sets of groups. */
const MAX_REMEMBERED_SETS = 100;

function selectionOf(tools: readonly Tool[]): ToolSet {
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
