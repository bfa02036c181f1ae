import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setRole, signUp, type User } from '../../test/support/users.ts';
import { reason, runCommand } from './command.ts';
import { serviceTarget } from './fill.ts';
import { makeRecord, spread } from './records.ts';
import { count, note } from './report.ts';
import type { Scratch } from './scratch.ts';
import { send, type Target } from './target.ts';

const firstNames = ['משה', 'דנה', 'יוסי', 'Lea', 'אבי', 'רחל', 'David', 'שרה', 'יעקב', 'מרים'];
const lastNames = ['כהן', 'לוי', 'מזרחי', 'פרץ', 'Cohen', 'ביטון', 'דהן', 'אברהם', 'פרידמן', 'Smith'];
const cities = ['תל אביב', 'ירושלים', 'חיפה', 'Haifa', 'באר שבע', 'אילת', 'עכו', 'לוד', 'רמלה', 'צפת'];

/** Ids of rows that accounts point to, by table. */
type Targets = Readonly<Record<'AccountStatuses' | 'LeadSource' | 'Industries' | 'Tags', readonly string[]>>;

/** Creates eight rows in each table that accounts point to. */
async function addTargets(target: Target): Promise<Targets> {
  const rowsOf = async (className: string): Promise<string[]> => {
    const requests = Array.from({ length: 8 }, (_, at) => ({
      method: 'POST',
      path: `/platform/classes/${className}`,
      body: { Name: `${className} ${at}` },
    }));
    const answers = await send(target, { method: 'POST', path: '/platform/batch', body: { requests } });
    return answers.map(({ success }: { success: { objectId: string } }) => success.objectId);
  };
  const [AccountStatuses, LeadSource, Industries, Tags] = [
    await rowsOf('AccountStatuses'),
    await rowsOf('LeadSource'),
    await rowsOf('Industries'),
    await rowsOf('Tags'),
  ];
  return { AccountStatuses, LeadSource, Industries, Tags };
}

/** An account as in a business of some years: 18 of the table's fields, about 1,200 bytes of JSON. */
function wideAccount(seed: number, targets: Targets): Record<string, unknown> {
  const { PhoneNumber, Email, Comment, DueDate } = makeRecord(seed);
  const [F_name, L_name] = [firstNames[seed % 10], lastNames[spread(seed, 10)]];
  const to = (className: keyof Targets, by: number) => ({
    __type: 'Pointer',
    className,
    objectId: targets[className][spread(seed + by, 8)],
  });
  return {
    Name: `${F_name} ${L_name} ${spread(seed + 3, 1_000_000)}`,
    F_name,
    L_name,
    PhoneNumber: String(PhoneNumber).replace(/^(\d{3})(\d{3})/, '$1-$2-'),
    Email,
    Address: `${L_name} ${spread(seed + 5, 200)}`,
    City: cities[spread(seed + 7, cities.length)],
    CompanyId: String(510_000_000 + seed),
    IsAccount: seed % 3 !== 0,
    StatusId: to('AccountStatuses', 11),
    LeadSourceId: to('LeadSource', 13),
    IndustryId: to('Industries', 17),
    Birthday: DueDate,
    Comment: `<p>${Comment}</p><p>${Comment}</p><p>${F_name} ${L_name}: ${Comment}</p>`,
    array_tags_Pointer_Tags: [to('Tags', 19), to('Tags', 23)],
    ExternalId: `X-${spread(seed + 29, 100_000_000)}`,
    fromWeb2lead: seed % 4 === 0,
    Unsubscribed: false,
  };
}

/**
 * Fills the Accounts of a new service by the `import` sub-command, and leaves the service stopped. First adds two indexes that the template does not
 * have:
 * one with almost as many values as records, one with few.
 * @returns a user who may read them
 */
export async function makeAccounts(
  scratch: Scratch,
  dataDir: string,
  database: { url: string } | undefined,
  records: number,
): Promise<User> {
  const service = await scratch.service(dataDir, database);
  const targets = await addTargets(serviceTarget(service));
  const body = { className: 'Accounts', indexes: { byName: { Name: 1 }, byCity: { City: 1 } } };
  const { status, text } = await service.call('PUT', '/platform/schemas/Accounts', { body });
  if (status !== 200) throw new Error(`indexes of Accounts: ${status} ${text}`);
  const user = await signUp(service, { name: 'Ana' });
  await setRole(service, user.id, 'Sales');
  await service.stop();
  const file = join(await scratch.directory(), 'accounts.ndjson');
  await pipeline(Readable.from(lines(records, targets)), createWriteStream(file));
  const args = ['import', '--system', service.appId, '--table', 'Accounts', '--file', file];
  const result = await runCommand(scratch, dataDir, args, database && { DATABASE_URL: database.url });
  await rm(file);
  if (result.code !== 0) throw new Error(`the import ended with ${reason(result)}`);
  note(`${count(records)} accounts imported, ${count(records / result.seconds)} a second`);
  return user;
}

function* lines(records: number, targets: Targets): Generator<string> {
  const block = 1000;
  for (let first = 0; first < records; first += block) {
    const size = Math.min(block, records - first);
    yield `${Array.from({ length: size }, (_, at) => JSON.stringify(wideAccount(first + at, targets))).join('\n')}\n`;
  }
}
