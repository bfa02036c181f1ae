import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolObstacle } from '../../access/index.ts';
import { advise } from '../../crm/refusals.ts';
import { serviceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { Tool } from '../definition/tool.ts';
import { describeError, errorText, type ToolError } from '../errors/describe.ts';
import { MAX_RESULT_BYTES } from './page.ts';
import { shortForm } from './truncate.ts';

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
export function errorResult(error: unknown): CallToolResult {
  return failure(describeError(error));
}

function failure(shown: ToolError): CallToolResult {
  return { content: [{ type: 'text', text: errorText(shown) }], structuredContent: { ...shown }, isError: true };
}

/** SPEC "Authentication: Agent-tool layer" 3: wrong credentials get this text and nothing else. */
export function denial(tool: Tool, args: unknown): CallToolResult {
  const { action, className } = tool.denies(args);
  const { code = 119, message: error } = serviceError('permissionDenied', action, className);
  return { content: [{ type: 'text', text: error }], structuredContent: { code, error }, isError: true };
}

/** The refusal of a user who signed in and may not use a tool. */
export function refusal(tool: Tool, args: unknown, obstacle: Exclude<ToolObstacle, 'credential' | null>): CallToolResult {
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
