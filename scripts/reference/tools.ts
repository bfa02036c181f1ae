import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../src/kernel/json.ts';
import { type Tool, toolGroups } from '../../src/mcp/definition/tool.ts';
import { loadTools } from '../../src/mcp/tools/index.ts';
import { slugOf } from '../headings.ts';
import { code, paragraphs, table, wrap } from './page.ts';

/** The sections of tools.md: the tools of each group, and each tool below a heading of its own. */
export async function toolSections(): Promise<string[]> {
  const tools = await loadTools();
  const groups = toolGroups.map((group) => {
    const members = tools.filter((tool) => tool.group === group).map(({ name }) => `[${name}](#${slugOf(name)})`);
    return [code(group), members.join(', ')];
  });
  return [table(['Group', 'Tools'], groups), paragraphs(...tools.map(describe))];
}

function describe(tool: Tool): string {
  const { name, description, inputSchema } = tool;
  const properties = Object.entries(propertiesOf(inputSchema));
  // The schema that agents get leaves most limits out. Of what is converted, the output has them.
  const bounds = propertiesOf(z.toJSONSchema(tool.input, { io: 'output', unrepresentable: 'any' }) as Schema);
  const required: ReadonlySet<unknown> = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  return paragraphs(
    `## ${name}`,
    wrap(escaped(description)),
    wrap(`${effectOf(tool)} ${rightsOf(tool)}`),
    properties.length === 0
      ? 'It has no parameters.'
      : table(
          ['Parameter', 'Type', 'Default', 'Meaning and limits'],
          properties.map(([parameter, schema]) => [
            code(parameter),
            typeOf(schema),
            required.has(parameter) ? 'required' : defaultOf(schema),
            escaped(meaningOf(schema, bounds[parameter] ?? {})),
          ]),
        ),
  );
}

function effectOf({ hints, group }: Tool): string {
  const repeats = hints.idempotentHint ? ' A repeated call changes nothing more.' : '';
  const effect = hints.readOnlyHint
    ? 'Reads only.'
    : hints.destructiveHint
      ? 'Writes, and may overwrite what is stored.'
      : 'Writes, and only adds.';
  return `${effect}${repeats} Group ${code(group)}.`;
}

function rightsOf({ needs, isAdvanced }: Tool): string {
  const rights = needs.length === 0 ? 'Needs no MCP permission.' : `Needs ${needs.map(code).join(' and ')}.`;
  return isAdvanced ? `${rights} Advanced: users need the role \`Admin\` and the switch of the system.` : rights;
}

/** The JSON Schema of a part, and of what is in it. */
type Schema = JsonObject;

function propertiesOf(schema: Schema): Record<string, Schema> {
  return isJsonObject(schema.properties) ? (schema.properties as Record<string, Schema>) : {};
}

function typeOf(schema: Schema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(String(value))).join(', ');
  if ('const' in schema) return code(String(schema.const));
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.filter(isJsonObject).map(typeOf).join(' or ');
  if (schema.type === 'array') return isJsonObject(schema.items) ? `array of ${typeOf(schema.items)}` : 'array';
  return typeof schema.type === 'string' ? schema.type : 'any';
}

function defaultOf(schema: Schema): string {
  return 'default' in schema ? `default ${code(JSON.stringify(schema.default))}` : '';
}

/** What a part says of itself, and its limits. @param bounds the schema with all limits */
function meaningOf(schema: Schema, bounds: Schema): string {
  const text = typeof schema.description === 'string' ? [sentence(schema.description)] : [];
  return [...text, ...limitsOf({ ...bounds, ...schema })].join(' ');
}

/** What JSON Schema says of the size of a value. */
function limitsOf({ type, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format }: Schema): string[] {
  return [
    type === 'integer' || type === 'number' ? range(minimum, maximum, '') : '',
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    pattern === undefined ? '' : `Matches ${code(String(pattern))}.`,
    format === undefined ? '' : `Format ${code(String(format))}.`,
  ].filter((text) => text !== '');
}

/** A limit of 0, or of what JavaScript can count, says nothing. */
function range(least: unknown, most: unknown, unit: string): string {
  const min = Number(least ?? 0) > 0 ? least : undefined;
  const max = Number(most ?? Number.MAX_SAFE_INTEGER) < Number.MAX_SAFE_INTEGER ? most : undefined;
  if (min !== undefined && min === max) return `Exactly ${min}${unit}.`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}.`;
  if (max !== undefined) return `At most ${max}${unit}.`;
  return min === undefined ? '' : `At least ${min}${unit}.`;
}

function sentence(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}

/** Angle brackets would be taken for HTML, `*` and `_` for emphasis. */
function escaped(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[<>*]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')))
    .join('');
}
