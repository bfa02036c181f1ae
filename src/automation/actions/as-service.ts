import { authorize, master } from '../../access/index.ts';
import type { RecordContext } from '../../records/index.ts';

/**
 * The context of a row in which the service notes what an action does: whose rights the action has is to be allowed to make one, its form is
 * the service's.
 * @throws permissionDenied (119)
 */
export function asService(context: RecordContext, className: string): RecordContext {
  const table = context.store.schema().tables.get(className);
  if (table) authorize(context.principal, 'create', table);
  return { ...context, principal: master };
}
