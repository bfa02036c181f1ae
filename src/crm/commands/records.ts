import { maySilenceTools, mayView } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Created, createRecord, isSilencingFlag, type OnlyIf, updatedRow, updateRecord } from '../../records/index.ts';
import type { CrmContext } from '../context.ts';
import type { Row } from '../queries/records.ts';

/** What silences a write: arguments of tools, which count under the master key alone (SPEC "Authentication" rule 5). */
export interface Silence {
  readonly skipTriggers?: boolean | undefined;
  readonly skipTimeline?: boolean | undefined;
}

/** The body of a write: flags inside the data count no more than the tool's own. */
export function bodyOf({ principal }: CrmContext, data: JsonObject, { skipTriggers, skipTimeline }: Silence = {}): JsonObject {
  const counts = maySilenceTools(principal);
  const body = counts || !Object.keys(data).some(isSilencingFlag) ? data : without(data);
  if (!counts || (skipTriggers !== true && skipTimeline !== true)) return body;
  return {
    ...body,
    ...(skipTriggers === true && { dontRunPlatformTriggers: true }),
    ...(skipTimeline === true && { dontUpdatePlatformTimeline: true }),
  };
}

/** Told with the answer of a write: what was sent to silence it and does not count, for a caller who took it to be silent. */
export function ignoredFlags({ principal }: CrmContext, { skipTriggers, skipTimeline }: Silence): JsonObject {
  if (maySilenceTools(principal)) return {};
  const ignored = [...(skipTriggers === true ? ['skipTriggers'] : []), ...(skipTimeline === true ? ['skipTimeline'] : [])];
  return ignored.length > 0 ? { ignored } : {};
}

const without = (data: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !isSilencingFlag(name)));

/** Creates a record as the caller. @throws what `createRecord` throws */
export function createRow(context: CrmContext, table: string, data: JsonObject, silence?: Silence): Promise<Created> {
  return createRecord(context, table, bodyOf(context, data, silence));
}

/**
 * Changes a record as the caller.
 * @returns `{updatedAt, objectId}`, and what operators made, which tells what was there, where he may view
 * @throws what `updateRecord` throws
 */
export async function updateRow(
  context: CrmContext,
  table: string,
  objectId: string,
  data: JsonObject,
  { onlyIf, ...silence }: Silence & { readonly onlyIf?: OnlyIf | undefined } = {},
): Promise<Row> {
  const row = updatedRow(await updateRecord(context, table, objectId, bodyOf(context, data, silence), onlyIf));
  return mayView(context.principal) ? row : { updatedAt: row.updatedAt ?? null, objectId: row.objectId };
}
