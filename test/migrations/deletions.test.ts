/** Timeline rows of deletions by earlier versions do not reveal the history of hidden records (adr/0016). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { removeDirectory } from '../support/data.ts';
import { startService } from '../support/service.ts';
import { setRole, signUp } from '../support/users.ts';
import { alter, makeDataDirectory, systemOf } from './data-directory.ts';

/** SQL for a timeline row of an earlier version, where a deletion copied no ACL. */
const row = (objectId: string, event: string, of: string) =>
  `INSERT INTO "t__Timeline" ("objectId", "createdAt", "updatedAt", "event", "objectClass", "objectIdValue", "data")
   VALUES ('${objectId}', 1, 1, '${event}', 'Books', '${of}', '{"title":"told"}');`;

it('rows of records that an earlier version deleted are visible to keys only, others as before', async () => {
  const dataDir = makeDataDirectory('functions');
  const open = `{"find":{"*":true},"get":{"*":true}}`;
  alter(
    systemOf(dataDir),
    `UPDATE rds_tables SET timeline = '{"displayFields":{},"index":{}}', permissions = '${open}' WHERE className = 'Books';
     ${row('past', 'create', 'bookGone00')} ${row('end', 'delete', 'bookGone00')} ${row('there', 'create', 'bookB00000')}`,
  );
  const service = await startService({ dataDir });
  const user = await signUp(service);
  await setRole(service, user.id, 'Admin');
  const seen = async (session?: string) => {
    const { body, text } = await service.call('GET', '/platform/classes/_Timeline', session ? { session } : {});
    assert.ok(body.results, text);
    return body.results.map(({ objectId }: { objectId: string }) => objectId);
  };
  assert.deepEqual(await seen(), ['past', 'end', 'there']);
  assert.deepEqual(await seen(user.token), ['there']);
  const deleted = await service.call('DELETE', '/platform/classes/Books/bookB00000');
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal((await seen(user.token)).length, 2, 'deletions are recorded as always');
  const opened = await service.call('PUT', '/platform/classes/_Timeline/end', { body: { ACL: {} } });
  assert.equal(opened.status, 200, opened.text);
  assert.equal((await seen(user.token)).length, 4, 'a key has opened them');
  await service.stop();
  await removeDirectory(dataDir);
});
