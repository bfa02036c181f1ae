import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type RecordContext, readRow } from '../../records/index.ts';
import { everybody } from '../queries/roles.ts';
import { badArguments } from '../refusals.ts';

const MAX_ENTITIES = 500;
const userFields = ['objectId'] as const;

/** Whom a permission may name. */
interface Known {
  /** All roles. */
  readonly roles: readonly string[];
  /** The same permission now: whom it names may be named again. */
  readonly before: Readonly<Record<string, unknown>>;
}

/**
 * Those whom a permission is given to, as class-level permissions name them (SPEC "Schema record"): a role may be sent by its bare name.
 * @param sent `["Sales", "role:Admin", "requiresAuthentication"]`, or the map of the schema endpoints
 * @throws invalidArguments (107) for who is not there
 */
export async function readEntities(context: RecordContext, place: string, sent: JsonValue, known: Known): Promise<JsonObject> {
  const entries = entriesOf(place, sent);
  if (entries.length > MAX_ENTITIES) badArguments(`${place} must have at most ${MAX_ENTITIES} entries`);
  const read = new Map<string, JsonValue>();
  for (const [name, granted] of entries) {
    if (name === 'pointerFields' && Array.isArray(granted)) read.set(name, granted);
    else if (granted === true) read.set(await entityOf(context, place, name, known), true);
    else if (granted !== false) badArguments(`${place}: ${name.slice(0, 128)} must be true or false`, { expected: FORM });
  }
  return Object.fromEntries(read);
}

const FORM = 'permissions: {find: ["Admin", "Sales"], update: {"role:Admin": true}}';

function entriesOf(place: string, sent: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (isJsonObject(sent)) return Object.entries(sent);
  if (!Array.isArray(sent)) return badArguments(`${place} must be a list of roles or a map`, { expected: FORM });
  return sent.map((name) =>
    typeof name === 'string' ? ([name, true] as const) : badArguments(`${place} must have texts`, { expected: FORM }),
  );
}

async function entityOf(context: RecordContext, place: string, name: string, { roles, before }: Known): Promise<string> {
  if (everybody.includes(name) || Object.hasOwn(before, name)) return name;
  const role = name.startsWith('role:') ? name.slice('role:'.length) : name;
  if (roles.includes(role)) return `role:${role}`;
  if (role === name && (await readRow(context.store, '_User', userFields, name))) return name;
  return badArguments(`${place}: ${name.slice(0, 128)} is no role and no user`, {
    expected: `Roles: ${roles.slice(0, 100).join(', ')}; also requiresAuthentication, * and objectIds of users`,
    next: 'Get-Roles',
  });
}
