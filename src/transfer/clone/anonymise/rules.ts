import { OperatorError } from '../../../kernel/operator-error.ts';
import { similarTo } from '../../../kernel/similar.ts';
import { isDefaultField } from '../../../schema/change.ts';
import type { Field, Schema, TableSchema } from '../../../schema/model.ts';
import { isDescribed, isHidden } from '../../../schema/system-tables.ts';
import { type Kind, kinds, oneToOne, typesOf } from './kinds.ts';

/** What is anonymised, by table and field. */
export type Rules = ReadonlyMap<string, ReadonlyMap<string, Kind>>;

/** Characters of a name that messages show. */
const MAX_SHOWN = 100;

/** Tables whose records permissions, triggers or programs name. */
const withoutRules: ReadonlySet<string> = new Set(['_Role', '_Trigger', '_Dictionary', '_Session']);

/**
 * Parses `{"Table": {"Field": kind}}`. Whether tables and fields exist is checked by `checkRules`.
 * @throws OperatorError if it is malformed or a kind is unknown
 */
export function parseRules(text: string): Rules {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new OperatorError(`it is no JSON: ${shown((error as Error).message)}`, { cause: error });
  }
  return new Map(
    entriesOf(parsed, 'it').map(([className, fields]) => [
      className,
      new Map(entriesOf(fields, shown(className)).map(([field, kind]) => [field, kindOf(kind, `${className}.${field}`)])),
    ]),
  );
}

function entriesOf(value: unknown, what: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OperatorError(`${what} is no object: rules are {"Table": {"Field": kind}}`);
  return Object.entries(value);
}

function kindOf(kind: unknown, place: string): Kind {
  const known = kinds.find((one) => one === kind);
  if (known) return known;
  const nearest = typeof kind === 'string' ? similarTo(kind, kinds) : undefined;
  throw new OperatorError(
    `${shown(place)}: there is no kind ${shown(JSON.stringify(kind))}${perhaps(nearest)}; kinds are ${kinds.join(', ')}`,
  );
}

/** Checks that rules fit a schema. @throws OperatorError that names the first rule that does not */
export function checkRules(rules: Rules, schema: Schema): void {
  try {
    check(rules, schema);
  } catch (error) {
    throw new OperatorError(`--anonymise: ${(error as Error).message}`, { cause: error });
  }
}

function check(rules: Rules, schema: Schema): void {
  const visible = [...schema.tables.keys()].filter((className) => !isHidden(className));
  for (const [className, fields] of rules) {
    const table = isHidden(className) ? undefined : schema.tables.get(className);
    if (!table) throw new OperatorError(`there is no table ${shown(className)}${perhaps(similarTo(className, visible))}`);
    if (withoutRules.has(className)) throw new OperatorError(`${className} takes no rules`);
    for (const [name, kind] of fields) checkRule(table, name, kind);
  }
}

function checkRule(table: TableSchema, name: string, kind: Kind): void {
  const { className } = table;
  const place = `${className}.${shown(name)}`;
  const isOwn = (field: string) => isDescribed(className, field) && field !== 'password';
  const field = isOwn(name) ? table.fields.get(name) : undefined;
  if (!field) {
    const nearest = table.formerNames.get(name) ?? similarTo(name, [...table.fields.keys()].filter(isOwn));
    throw new OperatorError(`${className} has no field ${shown(name)}${perhaps(nearest)}`);
  }
  if (isDefaultField(name)) throw new OperatorError(`${place} is a field of the service, and takes no rule`);
  if (kind === 'remove') {
    if (isNeeded(className, field)) throw new OperatorError(`${place} is required: remove is not possible`);
    return;
  }
  if (!typesOf[kind].includes(field.type)) {
    const possible = kinds.filter((one) => one === 'remove' || typesOf[one].includes(field.type));
    throw new OperatorError(`${place} is of the type ${field.type}: ${kind} is not possible, ${possible.join(', ')} are`);
  }
  if (className === '_User' && name === 'email' && kind !== 'email')
    throw new OperatorError(`${place} holds e-mail addresses: ${kind} is not possible, email, remove are`);
  if (!oneToOne.has(kind) && isUnique(table, name))
    throw new OperatorError(
      `${place} must be unique: ${kind} may give two records one value; ${[...oneToOne].join(', ')} do not`,
    );
}

const isNeeded = (className: string, { name, required }: Field): boolean =>
  required === true || (className === '_User' && name === 'username');

const isUnique = ({ className, uniqueIndexes }: TableSchema, name: string): boolean =>
  (className === '_User' && (name === 'username' || name === 'email')) ||
  [...uniqueIndexes.values()].some(({ fields }) => fields.includes(name));

const perhaps = (nearest: string | undefined) => (nearest === undefined ? '' : ` (perhaps ${nearest})`);

/** Returns a text from outside in a form that fits one line. */
const shown = (text: string) => text.slice(0, MAX_SHOWN).replace(/\p{C}/gu, '?');
