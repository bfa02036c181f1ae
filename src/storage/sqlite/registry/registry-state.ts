import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { WalMark } from '../file/wal-mark.ts';
import { isDamage } from '../schema/identity.ts';

/** How long to wait for another process. */
const BUSY_TIMEOUT_MS = 30_000;

/** Returns the mark of a registry's WAL. @throws StoreRefused if the WAL belongs to another file */
export function registryWalMark(path: string): WalMark {
  return WalMark.before(path, 'registry');
}

/** Returns the state of a registry's file without changing it. @throws OperatorError if its WAL belongs to another file, or it cannot be read */
export function stateOfRegistry(path: string): 'there' | 'missing' | 'empty' | 'damaged' {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return 'missing';
  if (size === 0) return 'empty';
  registryWalMark(path);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name);
    if (tables.length === 0) return 'empty';
    return tables.includes('systems') && tables.includes('installation') ? 'there' : 'damaged';
  } catch (error) {
    if (isDamage(error)) return 'damaged';
    throw new OperatorError(`DATA_DIR: ${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    db?.close();
  }
}
