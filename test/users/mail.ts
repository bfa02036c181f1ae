/** Reads what the service mails to users. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../support/service.ts';
import type { ReadMail } from '../support/smtp-message.ts';

/** Waits until `look` returns a value. @throws after ten seconds */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await wait(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error('it did not come within ten seconds');
}

/** Returns the link of a mail, which must be the same in plain text and HTML. */
export function linkIn(mail: ReadMail, service: Pick<Service, 'appId'>): URL {
  const find = (text: string) =>
    new RegExp(`https?://[^\\s"<>]+/password-reset/${service.appId}\\?token=[A-Za-z0-9_-]+`).exec(text)?.[0];
  const link = find(mail.text);
  assert.ok(link, mail.raw);
  assert.equal(find(mail.html), link);
  return new URL(link);
}
