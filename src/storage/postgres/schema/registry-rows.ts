import type { KnownStore, StoreNote } from '../../identity.ts';
import { nameBeside } from '../../places.ts';
import type { BackupTurn, Exchange, KeyEntry, RegistryAct, RegistryContent, RemovedSystem, SystemEntry } from '../../registry.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Result, Row, Session } from '../connection/database.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { registrySchema } from '../sql/names.ts';

export const systems = `${registrySchema}.systems`;
export const keys = `${registrySchema}.keys`;
export const installation = `${registrySchema}.installation`;
export const undelivered = `${registrySchema}.undelivered_acts`;

export const readSystems: Statement = {
  text: `SELECT id, "appId", coalesce(place, "appId"), name, "createdAt", "masterKeyHash", "heldAt", "keySalt", "formerAppId", "deleteAfter"
    FROM ${systems} ORDER BY "createdAt", "appId"`,
  params: [],
};
export const readKeys: Statement = {
  text: `SELECT "appId", name, hash, "createdAt" FROM ${keys} ORDER BY "createdAt", name`,
  params: [],
};

export const readStores = `SELECT id, coalesce("formerAppId", "appId"), coalesce(place, "appId"), birth, generation, "missingSince", "noticedAt", "damagedAt" FROM ${systems}`;

/** @param ofSystems result of `readSystems` @param ofKeys result of `readKeys` */
export function contentFrom(ofSystems: Result, ofKeys: Result): RegistryContent {
  const systems: SystemEntry[] = [];
  const removed: RemovedSystem[] = [];
  for (const [id, appId, place, name, createdAt, masterKeyHash, heldAt, keySalt, formerAppId, deleteAfter] of ofSystems.rows) {
    const entry = { id, appId, place, name, createdAt, masterKeyHash, heldAt, keySalt } as SystemEntry;
    if (deleteAfter === null) systems.push(entry);
    else removed.push({ ...entry, formerAppId, deleteAfter } as RemovedSystem);
  }
  const keys = ofKeys.rows.map(([appId, name, hash, createdAt]) => ({ appId, name, hash, createdAt }) as KeyEntry);
  return { systems, removed, keys };
}

/** Adds a row if its application id and its place are free. */
export function insertSystem(system: SystemEntry | RemovedSystem): Statement {
  const { id, appId, place, name, createdAt, masterKeyHash, heldAt, keySalt } = system;
  const { formerAppId, deleteAfter } = 'deleteAfter' in system ? system : { formerAppId: null, deleteAfter: null };
  const ownPlace = place === appId ? null : place;
  return {
    text: `INSERT INTO ${systems} (id, "appId", place, name, "createdAt", "masterKeyHash", "heldAt", "keySalt", "formerAppId", "deleteAfter")
      VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10::bigint) ON CONFLICT DO NOTHING`,
    params: [id, appId, ownPlace, name, createdAt, masterKeyHash, heldAt, keySalt, formerAppId, deleteAfter],
  };
}

/** Whether a system of this application id was exchanged for another. */
export async function wasExchanged(session: Session, appId: string): Promise<boolean> {
  const text = `SELECT 1 FROM ${systems} WHERE lower("formerAppId") = lower($1::text)`;
  return (await session.query({ text, params: [appId] })).affected > 0;
}

/** Renames the row of an application id, and its keys with it, to make the id available. @returns whether there was one that may be exchanged */
export async function putAside(session: Session, appId: string, { deleteAfter, now, act }: Exchange): Promise<boolean> {
  const aside = nameBeside(appId);
  const text = `UPDATE ${systems} SET "appId" = $1, "formerAppId" = "appId", place = coalesce(place, "appId"),
    "deleteAfter" = coalesce("deleteAfter", $2::bigint) WHERE "appId" = $3 AND ("deleteAfter" IS NULL OR "deleteAfter" > $4::bigint)`;
  if ((await session.query({ text, params: [aside, deleteAfter, appId, now] })).affected === 0) return false;
  if (act) await session.query(insertAct(aside, act));
  return true;
}

/** Puts a removed system back in force (`Registry.restoreSystem`). */
export async function restoreRow(
  session: Session,
  appId: string,
  now: number,
  { replace, act }: { readonly replace: Exchange | undefined; readonly act: RegistryAct | undefined },
): Promise<boolean> {
  const find = `SELECT id, coalesce("formerAppId", "appId") FROM ${systems} WHERE "appId" = $1 AND "deleteAfter" > $2::bigint FOR UPDATE`;
  const other = `SELECT "deleteAfter" FROM ${systems} WHERE lower("appId") = lower($1::text) AND id <> $2 FOR UPDATE`;
  const restore = `UPDATE ${systems} SET "appId" = $1, "formerAppId" = NULL, "deleteAfter" = NULL WHERE id = $2`;
  const [found] = (await session.query({ text: find, params: [appId, now] })).rows;
  if (!found) return false;
  const [id, own] = found as [string, string];
  const [there] = (await session.query({ text: other, params: [own, id] })).rows;
  if (there && there[0] === null && !replace) return false;
  if (there && !(await putAside(session, own, replace ?? { deleteAfter: now, now }))) return false;
  await session.query({ text: restore, params: [own, id] });
  if (act) await session.query(insertAct(own, act));
  return true;
}

export function insertKey({ appId, name, hash, createdAt }: KeyEntry): Statement {
  const text = `INSERT INTO ${keys} ("appId", name, hash, "createdAt")
    SELECT s."appId", $2::text, $3::text, $4::bigint FROM ${systems} AS s WHERE s."appId" = $1 ON CONFLICT DO NOTHING`;
  return { text, params: [appId, name, hash, createdAt] };
}

/** Keeps the act of a change of a system, by its present application id. */
export function insertAct(appId: string, { id, text }: RegistryAct): Statement {
  return {
    text: `INSERT INTO ${undelivered} (id, "systemId", act) SELECT $1, s.id, $2 FROM ${systems} AS s WHERE s."appId" = $3`,
    params: [id, text, appId],
  };
}

/** Records new facts about a store. */
export function recordNote(systemId: string, { birth, generation, missingSince, noticedAt, damagedAt }: StoreNote): Statement {
  const text = `UPDATE ${systems} SET birth = coalesce($2, birth), generation = greatest(generation, $3::bigint),
      "noticedAt" = coalesce($5::bigint, "noticedAt"),
      "missingSince" = least("missingSince", $4::bigint),
      "damagedAt" = CASE WHEN $6::boolean THEN $7::bigint ELSE "damagedAt" END WHERE id = $1`;
  const isGiven = damagedAt !== undefined;
  const values = [birth ?? null, generation ?? null, missingSince ?? null, noticedAt ?? null, isGiven, damagedAt ?? null];
  return { text, params: [systemId, ...values] };
}

export function readActs(systemId: string): Statement {
  return { text: `SELECT id, act FROM ${undelivered} WHERE "systemId" = $1 ORDER BY id`, params: [systemId] };
}

export function deleteActs(ids: readonly string[]): Statement {
  return { text: `DELETE FROM ${undelivered} WHERE id = ANY ($1::text[])`, params: [arrayLiteral(ids)] };
}

/** Deletes the acts of a system that is deleted. */
export function dropActs(appId: string): Statement {
  const text = `DELETE FROM ${undelivered} WHERE "systemId" IN (SELECT id FROM ${systems} WHERE "appId" = $1)`;
  return { text, params: [appId] };
}

/** Gives the acts of a system that was forgotten to the one that adopts its store. */
export function inheritActs(formerSystemId: string, systemId: string): Statement {
  return { text: `UPDATE ${undelivered} SET "systemId" = $1 WHERE "systemId" = $2`, params: [systemId, formerSystemId] };
}

export function knownStore([systemId, appId, place, birth, generation, missingSince, noticedAt, damagedAt]: Row): KnownStore {
  return { systemId, appId, place, birth, generation, missingSince, noticedAt, damagedAt } as KnownStore;
}

export const readBackupTurn: Statement = {
  text: `SELECT "backupDue", "backupProcess", "backupIsDone" FROM ${installation} WHERE "backupDue" IS NOT NULL`,
  params: [],
};

/** @param row first row of `readBackupTurn` */
export function backupTurnFrom(row: Row | undefined): BackupTurn | null {
  if (!row) return null;
  const [due, processId, isDone] = row;
  return { due, processId, isDone: isDone === 1 } as BackupTurn;
}

/** Records a turn if the stored one is still `known`. */
export function recordBackupTurn(known: BackupTurn | null, turn: BackupTurn): Statement {
  const isLast = `("backupDue", "backupProcess", "backupIsDone") IS NOT DISTINCT FROM ($4::bigint, $5::text, $6::boolean)`;
  return {
    text: `UPDATE ${installation} SET "backupDue" = $1::bigint, "backupProcess" = $2, "backupIsDone" = $3::boolean WHERE ${isLast}`,
    params: [turn.due, turn.processId, turn.isDone, known?.due ?? null, known?.processId ?? null, known?.isDone ?? null],
  };
}
