import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isHidden, isSystemTable } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';

/** The table that a form writes to; never one of the service's own. @param className may come from outside @throws classMissing (103) */
export function openTable(store: Store, className: string): TableSchema {
  const isOwn = isSystemTable(className) || isHidden(className);
  const table = isOwn ? undefined : store.schema().tables.get(className);
  return table ?? fail('classMissing', className.slice(0, limits.nameLength));
}
