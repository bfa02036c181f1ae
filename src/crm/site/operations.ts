import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { badArguments } from '../refusals.ts';

/** A change of a page, as sent. Paths are as in `findComponent`. */
export type Operation =
  /** Inserts into `parent`, or at the top level if it is empty; at the end if `index` is absent. */
  | { readonly op: 'add'; readonly component: JsonObject; readonly parent: string; readonly index?: number }
  /** `null` removes a key. */
  | { readonly op: 'change'; readonly path: string; readonly set: JsonObject }
  /** Without `parent`, moves among its siblings; an empty `parent` is the top level. */
  | { readonly op: 'move'; readonly path: string; readonly parent?: string; readonly index?: number }
  | { readonly op: 'remove'; readonly path: string };

const keysOf: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ['add', ['op', 'component', 'parent', 'index']],
  ['change', ['op', 'path', '_id', 'set']],
  ['move', ['op', 'path', '_id', 'parent', 'index']],
  ['remove', ['op', 'path', '_id']],
]);

const FORMS =
  '{op:"add", component:{type,…}, parent?, index?}, {op:"change", path, set:{key: value or null}}, {op:"move", path, parent?, index?} or {op:"remove", path}';

/** Parses an operation. @param place prefix of error texts @throws invalidArguments (107) */
export function readOperation(sent: JsonObject, place: string): Operation {
  const op = own(sent, 'op');
  const keys = keysOf.get(op) ?? wrong(`${place}.op must be add, change, move or remove`);
  const unknown = Object.keys(sent).find((key) => !keys.includes(key));
  if (unknown !== undefined) wrong(`${place} ${unknown.slice(0, 100)} is unknown`);
  const index = indexOf(sent, place);
  if (op === 'add') {
    const component = own(sent, 'component');
    if (!isJsonObject(component)) return wrong(`${place}.component must be an object`);
    return { op, component, parent: parentOf(sent, place) ?? '', ...(index !== undefined && { index }) };
  }
  const path = own(sent, 'path') ?? own(sent, '_id');
  if (typeof path !== 'string' || path === '') return wrong(`${place}.path must be a text`);
  if (op === 'remove') return { op, path };
  if (op === 'move') {
    const parent = parentOf(sent, place);
    if (parent === undefined && index === undefined) wrong(`${place} needs parent or index`);
    return { op, path, ...(parent !== undefined && { parent }), ...(index !== undefined && { index }) };
  }
  const set = own(sent, 'set');
  if (!isJsonObject(set) || Object.keys(set).length === 0) return wrong(`${place}.set must be an object with a key`);
  const kept = ['_id', 'children'].find((key) => Object.hasOwn(set, key));
  if (kept !== undefined) wrong(`${place}.set must not have ${kept}: add, move and remove change the structure`);
  return { op: 'change', path, set };
}

const wrong = (why: string): never => badArguments(why, { expected: `An operation is ${FORMS}` });

function indexOf(sent: JsonObject, place: string): number | undefined {
  const index = own(sent, 'index') ?? undefined;
  if (index === undefined) return undefined;
  return typeof index === 'number' && Number.isInteger(index) && index >= 0
    ? index
    : wrong(`${place}.index must be a whole number from 0`);
}

function parentOf(sent: JsonObject, place: string): string | undefined {
  const parent = own(sent, 'parent');
  if (parent === undefined) return undefined;
  if (parent === null) return '';
  return typeof parent === 'string' ? parent : wrong(`${place}.parent must be a text`);
}
