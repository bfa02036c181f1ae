import type { ListToolsResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentPermission, ToolRequirement } from '../../access/index.ts';
import type { CrmContext } from '../../crm/context.ts';
import { advise, listedBy } from '../../crm/refusals.ts';
import { faultsIn } from '../../crm/zod-faults.ts';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ToolAnswer } from './answer.ts';
import { schemaOf } from './schema.ts';

/** One authorised call of a tool. */
export interface ToolCall extends CrmContext {
  /** The tools visible on the connection. */
  readonly tools: () => readonly Tool[];
}

/** Groups of tools, by which a connection can restrict the list (`?toolsets=`). */
export const toolGroups = [
  ...(['records', 'crm', 'work', 'history', 'files', 'users', 'schema', 'site'] as const),
  ...(['automation', 'reports', 'documents', 'system'] as const),
] as const;
export type ToolGroup = (typeof toolGroups)[number];

/** Annotations of a tool in the protocol. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** A tool that can be listed and called. */
export interface Tool extends ToolRequirement {
  readonly name: string;
  readonly group: ToolGroup;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What `inputSchema` is made from, with all limits. */
  readonly input: z.ZodType;
  readonly hints: ToolHints;
  /** Returns what a refusal names: `Permission denied for action <action> on class <className>`. @param args as sent */
  denies(args: unknown): { readonly action: string; readonly className: string };
  /** See `ToolDefinition`. */
  readonly answerBytes?: number;
  /** Checks the arguments and runs. @returns the answer as JSON @throws invalidArguments (107), and errors of the catalogue from the tool */
  run(call: ToolCall, args: unknown): Promise<ToolAnswer>;
}

/** The tools visible on a connection, ready to be listed and looked up. */
export interface ToolSet {
  readonly list: ListToolsResult;
  readonly byName: ReadonlyMap<string, Tool>;
}

/** The declaration of a tool. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly group: ToolGroup;
  /** One sentence: the whole list must stay below 9,000 tokens. */
  readonly description: string;
  /** Built from the types in `parameters.ts`. */
  readonly input: Shape;
  /** Arguments that the schema marks as required although the tool accepts alternatives. If omitted, those without a default. */
  readonly required?: readonly (keyof Shape & string)[];
  readonly needs: readonly AgentPermission[];
  readonly isAdvanced?: true;
  /** `read`: changes nothing. `add`: loses no stored data. `change`: may overwrite stored data. */
  readonly effect: 'read' | 'add' | 'change';
  /** Whether a repeated call has no further effect. */
  readonly isIdempotent?: true;
  /** The class that a refusal names; if omitted, the argument `table` or `className`. */
  readonly about?: string;
  /** The tool that lists the ids used here, suggested when an id is unknown; if omitted, Get-Data. */
  readonly listedBy?: string;
  /** Maximum size of its answer in bytes, if it differs from `MAX_RESULT_BYTES`. */
  readonly answerBytes?: number;
  /** @param input with defaults applied */
  readonly run: (call: ToolCall, input: z.output<z.ZodObject<Shape>>) => Promise<ToolAnswer>;
}

/** Creates a tool from its declaration. The parameters of each are listed in tools.md. Reference: agents.md#tool-rights. */
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

type Effects = Pick<ToolDefinition<z.ZodRawShape>, 'effect' | 'isIdempotent' | 'isAdvanced'>;

/** Writes of records set `openWorldHint`: they fire triggers, which may send mail. */
function hintsOf({ effect, isIdempotent, isAdvanced }: Effects): ToolHints {
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
 * Checks the arguments of a call and applies defaults.
 * @param schema the same input as JSON Schema, for the error
 * @throws invalidArguments (107), with the tool's parameters
 */
function readArguments<Input>(input: z.ZodType<Input>, schema: JsonObject, args: unknown): Input {
  const read = input.safeParse(args ?? {}, { reportInput: true });
  if (read.success) return read.data;
  throw advise(serviceError('invalidArguments', faultsIn(read.error)), { expected: parametersOf(schema) });
}

/** Returns e.g. `table: string (required), limit: integer …`. */
function parametersOf({ properties = {}, required = [] }: JsonObject): string {
  const needed: ReadonlySet<unknown> = new Set(required as string[]);
  const parameters = Object.entries(properties as JsonObject).map(([name, part]) => {
    const { type, enum: values } = part as { type?: string; enum?: string[] };
    const kind = values ? values.join('|') : (type ?? 'any');
    return `${name}: ${kind}${needed.has(name) ? ' (required)' : ''}`;
  });
  return parameters.length === 0 ? 'It takes no arguments' : `It takes ${parameters.join(', ')}`;
}
