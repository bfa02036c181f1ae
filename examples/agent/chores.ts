/**
 * Ten tasks that an agent performs in a CRM system. Each prints one line about its result, and throws if the service does not answer as expected.
 *
 *     node examples/agent/chores.ts --url http://127.0.0.1:8080/mcp/APP_ID --api-key API_KEY
 *     MCP_TOKEN=… node examples/agent/chores.ts --url http://127.0.0.1:8080/mcp/APP_ID
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { client } from '../../client/src/index.ts';
import { connect } from './connection.ts';
import { convertLead, findDuplicates, importLeads, keepNote } from './customers.ts';
import type { Chore, Day } from './day.ts';
import { lookAround, tellWhatHappened } from './overview.ts';
import { quote, report } from './sales.ts';
import { meet, work } from './work.ts';

const chores: readonly (readonly [string, Chore])[] = [
  ['Look around', lookAround],
  ['Import leads', importLeads],
  ['Find duplicates', findDuplicates],
  ['Convert a lead', convertLead],
  ['Open a sale, quote a price', quote],
  ['Schedule a meeting', meet],
  ['Work off tasks', work],
  ['Keep a note, read the card', keepNote],
  ['Save and run a report', report],
  ['Tell what happened', tellWhatHappened],
];

const { values } = parseArgs({ options: { url: { type: 'string' }, 'api-key': { type: 'string' } } });
const { url, 'api-key': apiKey } = values;
// biome-ignore lint/style/noProcessEnv: command lines are visible in process lists.
const token = process.env.MCP_TOKEN;
if (!url || !(apiKey || token)) {
  console.error('Usage: node examples/agent/chores.ts --url URL --api-key KEY (or MCP_TOKEN in the environment)');
  process.exit(2);
}

const connection = await connect(url, { apiKey, token });
// Phones and ids unique to this run, so that it can be repeated in the same system.
const day: Day = {
  ...connection,
  run: String(randomInt(1_000, 10_000)),
  startedAt: new Date().toISOString(),
  crm: apiKey === undefined ? undefined : restClient(url, apiKey),
};
try {
  for (const [at, [title, chore]] of chores.entries()) console.log(`${String(at + 1).padStart(2)} ${title}: ${await chore(day)}`);
} finally {
  await connection.close();
}

/** Returns a client of the system whose agent tools have the address `BASE/mcp/APP_ID`. */
function restClient(address: string, apiKey: string) {
  const [base = '', appId = ''] = address.split('/mcp/');
  return client({ url: base, appId, apiKey });
}
