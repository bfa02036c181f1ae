/** Journey 1: the first start. The service prints an address; there the administrator signs in with the generated password and finds the tables. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPerson } from '../support/browser.ts';
import { anyEngine } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { otherPassword } from '../support/users.ts';

test('from the printed address to the tables, in both languages', async () => {
  // Not the usual system, so that this start creates it.
  const service = await startServiceProcess({ engine: anyEngine[0] ?? 'sqlite', env: { APP_ID: 'first-system' } });
  const [, address = ''] = /Console: (\S+)/.exec(service.output()) ?? [];
  assert.equal(address, `${service.url}/console/`);
  const { adminEmail, adminPassword } = JSON.parse(readFileSync(join(service.dataDir, 'credentials.json'), 'utf8'));

  const hebrew = await newPerson(service, { language: 'he' });
  const failed: string[] = [];
  hebrew.page.on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  await hebrew.open(address);
  assert.equal(await hebrew.page.locator('html').getAttribute('dir'), 'rtl');
  await hebrew.assertAccessible('sign-in');
  await hebrew.signIn(adminEmail, adminPassword);
  await hebrew.page.waitForURL('**/console/first-system/');
  const link = hebrew.page.getByRole('navigation').first().locator('a[href$="/console/first-system/Accounts"]');
  assert.equal((await link.innerText()).trim(), 'לקוחות');
  await hebrew.page.getByText('הסיסמה הראשונית').first().waitFor();
  await hebrew.assertAccessible('home');

  await hebrew.open('/console/first-system/-/me');
  await hebrew.page.getByLabel('סיסמה נוכחית').fill(adminPassword);
  await hebrew.page.getByLabel('סיסמה חדשה', { exact: true }).fill(otherPassword);
  await hebrew.page.getByRole('button', { name: 'שינוי הסיסמה' }).click();
  await hebrew.page.getByText('הסיסמה שונתה').first().waitFor();
  assert.equal(await hebrew.page.getByText('הסיסמה הראשונית').count(), 0);
  assert.deepEqual(failed, [], 'no request fails on the way');
  hebrew.assertClean();
  await hebrew.close();

  const english = await newPerson(service);
  await english.open('/');
  await english.signIn(adminEmail, otherPassword);
  const accounts = english.page.getByRole('navigation').first().getByRole('link', { name: 'Accounts', exact: true });
  await accounts.click();
  await english.page.getByRole('grid').waitFor();
  await english.page.getByRole('button', { name: 'Sign out' }).click();
  await english.page.getByRole('textbox', { name: 'Username' }).waitFor();
  english.assertClean();
  await english.close();
  await service.stop();
});
