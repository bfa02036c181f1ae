/** A record that the user opened. */
export interface RecentRecord {
  readonly table: string;
  readonly objectId: string;
  readonly title: string;
}

const MAX_RECORDS = 12;
const MAX_TABLES = 30;

/** Returns the records that the user opened in this browser, newest first. */
export function recentRecords(appId: string, userId: string): readonly RecentRecord[] {
  return list<RecentRecord>(nameOf('records', appId, userId)).filter((record) => record?.table && record.objectId);
}

export function noteRecord(appId: string, userId: string, record: RecentRecord): void {
  const others = recentRecords(appId, userId).filter(({ objectId }) => objectId !== record.objectId);
  keep(nameOf('records', appId, userId), [record, ...others].slice(0, MAX_RECORDS));
}

export function forgetRecord(appId: string, userId: string, objectId: string): void {
  keep(
    nameOf('records', appId, userId),
    recentRecords(appId, userId).filter((record) => record.objectId !== objectId),
  );
}

/** Returns the tables that the user opened, newest first, once per visit, up to a limit. */
function visits(appId: string, userId: string): readonly string[] {
  return list<string>(nameOf('tables', appId, userId)).filter((name) => typeof name === 'string');
}

export function noteTable(appId: string, userId: string, table: string): void {
  const past = visits(appId, userId);
  if (past[0] !== table) keep(nameOf('tables', appId, userId), [table, ...past].slice(0, MAX_TABLES));
}

/** Returns the tables that the user opened most often recently. */
export function usedTables(appId: string, userId: string, count: number): readonly string[] {
  const times = new Map<string, number>();
  for (const table of visits(appId, userId)) times.set(table, (times.get(table) ?? 0) + 1);
  const byUse = [...times].sort(([, a], [, b]) => b - a);
  return byUse.slice(0, count).map(([table]) => table);
}

function nameOf(kind: string, appId: string, userId: string): string {
  return `console.${kind}.${JSON.stringify([appId, userId])}`;
}

function list<T>(name: string): readonly T[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {}
}
