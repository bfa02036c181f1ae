import { createRow, updateRow } from '../../../crm/commands/records.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { grantOn, visibleFields } from '../../../crm/queries/field-visibility.ts';
import { callerId } from '../../../crm/queries/owners.ts';
import { findRows, getRow, type Row, tableIfAny } from '../../../crm/queries/records.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import { REPORTS } from '../../../crm/reports/saved-report.ts';
import { fail } from '../../../errors/fail.ts';
import { deleteRecord } from '../../../records/index.ts';
import type { ApiEndpoint, ApiRequest } from '../../protocol/api-endpoint.ts';
import type { SavedView, ViewsAnswer } from '../../protocol/protocol.ts';
import { idOf, tableOf } from '../wire/parameters.ts';
import { contentOf } from './content.ts';
import { aclOf, fieldsOf, newFields, ownerOf, viewKeys, viewOf } from './stored.ts';

/** Maximum number of views listed per table. */
export const MAX_VIEWS = 500;

const getViews: ApiEndpoint = {
  method: 'GET',
  path: '/views/:table',
  async run(context, request): Promise<ViewsAnswer> {
    const { className } = tableOf(context, request, 'find');
    grantOn(context, className, 'find');
    const ask = { where: { table: className }, keys: keysOf(context), order: 'Name', limit: MAX_VIEWS };
    const rows = await unless(accessErrors, [], () => findRows(context, REPORTS, ask));
    return { views: rows.flatMap((row) => viewOf(context, row) ?? []) };
  },
};

const getView: ApiEndpoint = {
  method: 'GET',
  path: '/view/:id',
  run: async (context, request): Promise<SavedView> => (await viewNamed(context, request)).view,
};

const postView: ApiEndpoint = {
  method: 'POST',
  path: '/views/:table',
  async run(context, request): Promise<SavedView> {
    const { className } = tableOf(context, request, 'find');
    const content = await contentOf(context, request, className);
    const owner = callerId(context) ?? fail('permissionDenied', 'create', REPORTS);
    const fields = { ...fieldsOf(context, content), ...newFields(context, className, owner), ACL: aclOf([owner], content) };
    const { objectId } = await createRow(context, REPORTS, fields);
    return viewAgain(context, objectId);
  },
};

const putView: ApiEndpoint = {
  method: 'PUT',
  path: '/view/:id',
  async run(context, request): Promise<SavedView> {
    const { row, view } = await viewNamed(context, request);
    const content = await contentOf(context, request, view.table);
    // Keep the ACL if the sharing is unchanged: it may contain rights that a view does not represent.
    const isShared = view.sharedWith.toSorted().join('\n') === content.sharedWith.toSorted().join('\n');
    const owners = [ownerOf(row), callerId(context)].filter((id) => id !== undefined);
    const acl = isShared ? {} : { ACL: aclOf(owners, content) };
    await updateRow(context, REPORTS, view.objectId, { ...fieldsOf(context, content), ...acl });
    return viewAgain(context, view.objectId);
  },
};

const deleteView: ApiEndpoint = {
  method: 'DELETE',
  path: '/view/:id',
  async run(context, request) {
    const { view } = await viewNamed(context, request);
    await deleteRecord(context, REPORTS, view.objectId, {});
    return {};
  },
};

/** Views are saved reports, which agent tools can run too. Reference: console.md#views. */
export const viewEndpoints: readonly ApiEndpoint[] = [getViews, getView, postView, putView, deleteView];

/**
 * Returns the view of the request.
 * @throws objectNotFound (101) if the report is no view; permissionDenied (119) if the caller may not find in its table
 */
async function viewNamed(context: CrmContext, request: ApiRequest): Promise<{ row: Row; view: SavedView }> {
  const row = await getRow(context, REPORTS, idOf(request), { keys: keysOf(context) });
  const view = viewOf(context, row) ?? fail('objectNotFound');
  grantOn(context, tableOf(context, { ...request, params: { table: view.table } }, 'find').className, 'find');
  return { row, view };
}

async function viewAgain(context: CrmContext, objectId: string): Promise<SavedView> {
  const row = await getRow(context, REPORTS, objectId, { keys: keysOf(context) });
  return viewOf(context, row) ?? fail('objectNotFound');
}

/** Returns the fields to read: those that the system has and the caller may see. */
function keysOf(context: CrmContext): string[] {
  const table = tableIfAny(context, REPORTS);
  return ['objectId', ...(table ? visibleFields(context, table, viewKeys) : [])];
}
