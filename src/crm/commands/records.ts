import { maySilenceTools, mayView } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Created, createRecord, isSilencingFlag, type OnlyIf, updatedRow, updateRecord } from '../../records/index.ts';
import type { CrmContext } from '../context.ts';
import type { Row } from '../queries/records.ts';

/** Arguments of tools that silence a write. They count under the master key only (agents.md#modes). */
export interface SilencingOptions {
  readonly skipTriggers?: boolean | undefined;
  readonly skipTimeline?: boolean | undefined;
}

/** Returns the body of a write. Silencing flags inside the data count only if the tool's own arguments would. */
export function bodyOf(
  { principal }: CrmContext,
  data: JsonObject,
  { skipTriggers, skipTimeline }: SilencingOptions = {},
): JsonObject {
  const counts = maySilenceTools(principal);
  const body = counts || !Object.keys(data).some(isSilencingFlag) ? data : without(data);
  if (!counts || (skipTriggers !== true && skipTimeline !== true)) return body;
  return {
    ...body,
    ...(skipTriggers === true && { dontRunPlatformTriggers: true }),
    ...(skipTimeline === true && { dontUpdatePlatformTimeline: true }),
  };
}

/** Returns the silencing arguments that were sent but do not count, so that the caller does not take the write to be silent. */
export function ignoredFlags({ principal }: CrmContext, { skipTriggers, skipTimeline }: SilencingOptions): JsonObject {
  if (maySilenceTools(principal)) return {};
  const ignored = [...(skipTriggers === true ? ['skipTriggers'] : []), ...(skipTimeline === true ? ['skipTimeline'] : [])];
  return ignored.length > 0 ? { ignored } : {};
}

const without = (data: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !isSilencingFlag(name)));

/** Creates a record as the caller. @throws what `createRecord` throws */
export function createRow(context: CrmContext, table: string, data: JsonObject, silence?: SilencingOptions): Promise<Created> {
  return createRecord(context, table, bodyOf(context, data, silence));
}

/**
 * Updates a record as the caller.
 * @returns `{updatedAt, objectId}`; with the permission to view also the values that operators produced, which reveal the previous ones
 * @throws what `updateRecord` throws
 */
export async function updateRow(
  context: CrmContext,
  table: string,
  objectId: string,
  data: JsonObject,
  { onlyIf, ...silence }: SilencingOptions & { readonly onlyIf?: OnlyIf | undefined } = {},
): Promise<Row> {
  const row = updatedRow(await updateRecord(context, table, objectId, bodyOf(context, data, silence), { onlyIf }));
  return mayView(context.principal) ? row : { updatedAt: row.updatedAt ?? null, objectId: row.objectId };
}
