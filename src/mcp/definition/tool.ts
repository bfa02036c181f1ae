import { z } from 'zod';
import type { AgentPermission, ToolRequirement } from '../../access/index.ts';
import type { CrmContext } from '../../crm/context.ts';
import { advise, listedBy } from '../../crm/refusals.ts';
import { faultsIn } from '../../crm/zod-faults.ts';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { schemaOf } from './schema.ts';

/** One call of a tool, its caller known and let in. */
export interface ToolCall extends CrmContext {
  /** The tools of the connection. */
  readonly tools: () => readonly Tool[];
}

/** Parts of the list, for connections that want less of it (`?toolsets=`). */
export const toolGroups = [
  ...(['records', 'crm', 'work', 'history', 'files', 'users', 'schema', 'site'] as const),
  ...(['automation', 'reports', 'documents', 'system'] as const),
] as const;
export type ToolGroup = (typeof toolGroups)[number];

/** What is told of a tool to clients (the protocol's annotations). */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** A tool, ready to be listed and called. */
export interface Tool extends ToolRequirement {
  readonly name: string;
  readonly group: ToolGroup;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What `inputSchema` is made from, with all limits. */
  readonly input: z.ZodType;
  readonly hints: ToolHints;
  /** What a refusal names: `Permission denied for action <action> on class <className>`. @param args as sent */
  denies(args: unknown): { readonly action: string; readonly className: string };
  /** As in the definition. */
  readonly answerBytes?: number;
  /**
   * Checks the arguments and runs.
   * @returns what the caller is answered, as JSON
   * @throws invalidArguments (107), and what the tool throws: errors of the catalogue
   */
  run(call: ToolCall, args: unknown): Promise<JsonValue>;
}

/** How a tool is written down. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly group: ToolGroup;
  /** One sentence: the whole list has to stay below 9,000 tokens. */
  readonly description: string;
  /** Made of the parts in `parameters.ts`. */
  readonly input: Shape;
  /** Arguments that clients are to bring, though the tool takes another in their place; those that have no default where it is left out. */
  readonly required?: readonly (keyof Shape & string)[];
  readonly needs: readonly AgentPermission[];
  readonly isAdvanced?: true;
  /** `read`: changes nothing. `add`: nothing stored is lost. `change`: what is stored may be overwritten. */
  readonly effect: 'read' | 'add' | 'change';
  /** Whether calling it twice leaves the same as once. */
  readonly isIdempotent?: true;
  /** The class that a refusal names; the argument `table` or `className` where it is left out. */
  readonly about?: string;
  /** The tool that lists what its ids name: it comes next where one is not there. Left out, Get-Data. */
  readonly listedBy?: string;
  /** Bytes that its answer may have, where they are others than those of all. */
  readonly answerBytes?: number;
  /** @param input with its defaults */
  readonly run: (call: ToolCall, input: z.output<z.ZodObject<Shape>>) => Promise<JsonValue>;
}

/** SPEC "Agent-tool layer (MCP)"; reference/agent-tools.md has the parameters of each. */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, group, description, needs, isAdvanced = false, effect, about, listedBy: lister, answerBytes } = definition;
  const input = z.strictObject(definition.input);
  const inputSchema = { ...schemaOf(input), ...(definition.required && { required: [...definition.required] }) };
  const action = effect === 'read' ? 'find' : effect === 'add' ? 'create' : 'update';
  return {
    name,
    group,
    description,
    needs,
    isAdvanced,
    inputSchema,
    input,
    hints: hintsOf(definition),
    denies: (args) => ({ action, className: about ?? tableNamed(args) }),
    ...(answerBytes !== undefined && { answerBytes }),
    async run(call, args) {
      const read = readArguments(input, inputSchema, args);
      return lister === undefined ? definition.run(call, read) : listedBy(lister, () => definition.run(call, read));
    },
  };
}

type Told = Pick<ToolDefinition<z.ZodRawShape>, 'effect' | 'isIdempotent' | 'isAdvanced'>;

/** Writes of records fire triggers, which may send mail: others hear of them. */
function hintsOf({ effect, isIdempotent, isAdvanced }: Told): ToolHints {
  if (effect === 'read') return { readOnlyHint: true, openWorldHint: false };
  return {
    readOnlyHint: false,
    destructiveHint: effect === 'change',
    idempotentHint: isIdempotent === true,
    openWorldHint: isAdvanced !== true,
  };
}

function tableNamed(args: unknown): string {
  const { table, className } = (args ?? {}) as Record<string, unknown>;
  const named = table ?? className;
  return typeof named === 'string' && named !== '' ? named.slice(0, 128) : '_SCHEMA';
}

/**
 * The arguments of a call, checked, with their defaults.
 * @param schema the same as JSON Schema, to say what is taken
 * @throws invalidArguments (107), with the parameters that the tool has
 */
function readArguments<Input>(input: z.ZodType<Input>, schema: JsonObject, args: unknown): Input {
  const read = input.safeParse(args ?? {}, { reportInput: true });
  if (read.success) return read.data;
  throw advise(serviceError('invalidArguments', faultsIn(read.error)), { expected: parametersOf(schema) });
}

/** `table: string (required), limit: integer …` */
function parametersOf({ properties = {}, required = [] }: JsonObject): string {
  const needed: ReadonlySet<unknown> = new Set(required as string[]);
  const told = Object.entries(properties as JsonObject).map(([name, part]) => {
    const { type, enum: values } = part as { type?: string; enum?: string[] };
    const kind = values ? values.join('|') : (type ?? 'any');
    return `${name}: ${kind}${needed.has(name) ? ' (required)' : ''}`;
  });
  return told.length === 0 ? 'It takes no arguments' : `It takes ${told.join(', ')}`;
}
