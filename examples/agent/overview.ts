/** Overview of a system, and of what was done in it. */
import assert from 'node:assert/strict';
import type { Json } from './connection.ts';
import { type Day, known } from './day.ts';

export async function lookAround(day: Day): Promise<string> {
  const { system, caller, tools } = await day.use('Get-My-Access');
  const missing = ['Get-Data', 'Import-Records', 'Create-Price-Quote', 'Save-Report'].filter((tool) => !tools.includes(tool));
  assert.deepEqual(missing, [], 'these chores take the permissions to see, add and change records');
  // A key has no user; the tasks are then assigned to a user of the system.
  const { results: users } = await day.use('Get-all-Users');
  day.ownerId = caller.objectId ?? users.find(({ active }: Json) => active !== false)?.objectId;
  assert.ok(day.ownerId, 'the system has no user who could have tasks and meetings');

  const { results: tables } = await day.use('Get-Schema', { tablesNameOnly: true });
  assert.ok(tables.includes('Accounts') && tables.includes('Sales'));
  const { fields } = await day.use('Get-Schema', { className: 'Accounts' });
  assert.equal(fields.LeadSourceId.targetClass, 'LeadSource');
  return `as ${caller.kind} ${caller.username ?? caller.name} in ${system.appId}: ${tools.length} tools, ${tables.length} tables`;
}

export async function tellWhatHappened({ use, crm, startedAt, customerId, saleId }: Day): Promise<string> {
  const { results: history } = await use('Get-Timeline', { table: 'Accounts', objectId: known(customerId) });
  const conversion = history.find(({ changes }: Json) => changes?.IsAccount);
  assert.equal(conversion?.changes.IsAccount.to, true, JSON.stringify(history));
  assert.equal(history.at(-1).event, 'create');

  // What the tools wrote is what REST reads.
  if (crm) {
    const sale = await crm.table('Sales').get(known(saleId), { include: ['AccountId'] });
    assert.deepEqual([sale.AccountId.objectId, sale.AccountId.IsAccount], [customerId, true]);
  }

  const { results: recent } = await use('Get-Recent-Changes', { since: startedAt, limit: 100 });
  const counts = Object.entries(Object.groupBy(recent, ({ table }: Json) => table)).map(([table, rows = []]) => [
    table,
    rows.length,
  ]);
  for (const table of ['Accounts', 'Sales', 'Tasks', 'Activities', 'Notes'])
    assert.ok(
      counts.some(([name]) => name === table),
      `${table}: ${JSON.stringify(recent)}`,
    );
  const who = new Set(recent.map(({ user }: Json) => user.Name ?? user.objectId));
  return `${counts.map(([table, count]) => `${table} ${count}`).join(', ')} changes, by ${[...who].join(', ')}`;
}
