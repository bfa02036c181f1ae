import { requireMasterKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import {
  applySchema,
  changeJson,
  diffSchema,
  exportSchema,
  type Part,
  parts,
  readSnapshot,
  type SchemaDiff,
  type Scope,
  type Snapshot,
  SnapshotFault,
  snapshotJson,
} from '../../transfer/index.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint/endpoint.ts';

/** Reads, compares and applies what a system is made of. Reference: schema-as-code.md#over-http. */
export const snapshotEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/schema/snapshot',
    async handle({ context, principal, query }) {
      requireMasterKey(principal);
      for (const name of query.keys()) if (name !== 'parts') fail('invalidParameter', name);
      const listed = query.get('parts');
      const asked = typeof listed === 'string' ? listed.split(',').map((name) => partNamed(name.trim())) : parts;
      return ok(snapshotJson(await exportSchema(context, asked)));
    },
  },
  {
    method: 'POST',
    path: '/schema/diff',
    handle: (request) =>
      withFaults(async () => {
        requireMasterKey(request.principal);
        const { snapshot, scope } = readBody(request, []);
        return ok(diffJson(await diffSchema(request.context, snapshot, scope)));
      }),
  },
  {
    method: 'POST',
    path: '/schema/apply',
    handle: (request) =>
      withFaults(async () => {
        requireMasterKey(request.principal);
        const { snapshot, scope, body } = readBody(request, ['hash', 'allowDestructive']);
        const hash = own(body, 'hash');
        if (typeof hash !== 'string') return fail('badSnapshot', 'hash is missing: it is that of the diff');
        const allowsDestructive = own(body, 'allowDestructive') ?? false;
        if (typeof allowsDestructive !== 'boolean') return fail('badSnapshot', 'allowDestructive is neither true nor false');
        return ok(diffJson(await applySchema(request.context, snapshot, { ...scope, hash, allowsDestructive })));
      }),
  },
];

const ok = (answer: JsonObject): ApiReply => ({ status: 200, json: JSON.stringify(answer) });

const diffJson = ({ hash, changes, notes }: SchemaDiff): JsonObject => ({
  hash,
  changes: changes.map(changeJson),
  notes: [...notes],
});

/** Faults of a snapshot are errors of the catalogue here. */
async function withFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SnapshotFault)) throw error;
    const { path, message } = error;
    return fail('badSnapshot', path.length === 0 ? message : `${path.join('.')} ${message}`);
  }
}

interface SnapshotBody {
  readonly snapshot: Snapshot;
  readonly scope: Scope;
  /** The members beside the snapshot. */
  readonly body: JsonObject;
}

/** A snapshot is the body itself, or its `snapshot` or `data`; each may be wrapped in `data` as other services have it. */
function readBody({ body: sent }: ApiRequest, keys: readonly string[]): SnapshotBody {
  const outer = bodyOf(sent);
  const wrapped = own(outer, 'snapshot') ?? own(outer, 'data');
  if (wrapped === undefined) return { snapshot: readSnapshot(withoutKeys(outer, keys)), scope: {}, body: outer };
  const known = ['snapshot', 'data', 'only', 'parts', ...keys];
  const other = Object.keys(outer).find((key) => !known.includes(key));
  if (other !== undefined) fail('badSnapshot', `${other} is not a key beside the snapshot`);
  const only = namesAt(outer, 'only');
  const scope = { only, parts: namesAt(outer, 'parts')?.map(partNamed) };
  return { snapshot: readSnapshot(unwrapped(wrapped)), scope, body: outer };
}

const unwrapped = (value: JsonValue): JsonValue => (isJsonObject(value) ? (own(value, 'data') ?? value) : value);

const withoutKeys = (body: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)));

function bodyOf(body: JsonValue | undefined): JsonObject {
  return isJsonObject(body) ? body : fail('invalidJson', 'the body must be an object');
}

function namesAt(body: JsonObject, key: string): string[] | undefined {
  const names = own(body, key);
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) return fail('badSnapshot', `${key} is not a list`);
  return names.map((name) => (typeof name === 'string' ? name : fail('badSnapshot', `${key} is not a list of names`)));
}

function partNamed(name: string): Part {
  return (
    parts.find((part) => part === name) ?? fail('badSnapshot', `parts: ${name.slice(0, 100)} is none of ${parts.join(', ')}`)
  );
}
