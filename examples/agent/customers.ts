/** Leads and customers. */
import assert from 'node:assert/strict';
import { type Day, known, lookup } from './day.ts';

/** Rows of a spreadsheet. Columns are given by field name, by the system's own label, or through `fieldMap`; sources by name. */
const sheet = (run: string, source: string) => [
  { שם: 'Dana Levi', Phone: `050-111${run}`, Email: `dana.${run}@example.com`, City: 'Haifa', Source: source, 'Row no.': 1 },
  { שם: 'Avi Mizrahi', Phone: `052-222${run}`, Email: `avi.${run}@example.com`, City: 'Eilat', Source: source, 'Row no.': 2 },
  { שם: 'Noa Cohen', Phone: `054-333${run}`, Email: `noa.${run}@example.com`, City: 'Haifa', Source: '', 'Row no.': 3 },
];
const fieldMap = { Phone: 'PhoneNumber', Source: 'LeadSourceId', 'Row no.': null };

/** Validates the rows first, then imports them. A second import recognises them by e-mail address. */
export async function importLeads(day: Day): Promise<string> {
  const source = await lookup(day, 'LeadSource');
  const rows = sheet(day.run, source.Name);
  const order = { table: 'Accounts', rows, fieldMap, matchOn: ['Email'] };
  const tried = await day.use('Import-Records', { ...order, dryRun: true });
  assert.deepEqual([tried.dryRun, tried.created, tried.failed], [true, 3, 0], JSON.stringify(tried));
  assert.equal((await day.use('Count-Data', { table: 'Accounts', where: { Email: rows[0]?.Email } })).count, 0);

  const { created, results } = await day.use('Import-Records', order);
  assert.equal(created, 3);
  day.leadIds = results.map(({ success }: { success: { objectId: string } }) => success.objectId);
  const again = await day.use('Import-Records', order);
  assert.deepEqual([again.created, again.skipped], [0, 3], JSON.stringify(again));
  return `${created} leads of the source ${source.Name}; the same rows again: ${again.skipped} skipped`;
}

/** Phones match in any notation. */
export async function findDuplicates({ use, run, leadIds }: Day): Promise<string> {
  const [dana] = known(leadIds);
  const phone = `+972 50 111-${run}`;
  const { results } = await use('Find-Duplicates', { phone });
  assert.deepEqual(
    results.map(({ objectId }: { objectId: string }) => objectId),
    [dana],
  );
  const nobody = await use('Find-Duplicates', { email: `nobody.${run}@example.com` });
  assert.deepEqual(nobody.results, []);
  return `${phone} is ${results[0].Name}'s; nobody has the other address`;
}

export async function convertLead(day: Day): Promise<string> {
  const [dana] = known(day.leadIds);
  const status = await lookup(day, 'AccountStatuses');
  const { converted } = await day.use('Convert-Lead', { objectId: dana, statusId: status.objectId, ownerId: day.ownerId });
  assert.equal(converted, true);
  const customer = await day.use('Get-Record', { table: 'Accounts', objectId: dana, include: ['StatusId'] });
  assert.equal(customer.IsAccount, true);
  assert.equal(customer.StatusId.objectId, status.objectId);
  day.customerId = dana;
  return `${customer.Name} is a customer, status ${status.Name}`;
}

export async function keepNote({ use, customerId }: Day): Promise<string> {
  const comment = 'Asked for delivery before noon.';
  await use('Add-Note', { table: 'Accounts', objectId: known(customerId), comment });
  const { details, sales, tasks, activities, notes } = await use('Get-Customer-Card', { objectId: customerId });
  assert.equal(notes.results[0].Comment, comment, JSON.stringify(notes));
  const parts = { sales, tasks, activities, notes };
  const counts = Object.entries(parts).map(([name, { results }]) => `${name} ${results.length}`);
  assert.deepEqual(counts, ['sales 1', 'tasks 1', 'activities 1', 'notes 2']);
  return `${details.Name}: ${counts.join(', ')}`;
}
