import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Addresses } from '../../config/index.ts';
import { fail, isPassing } from '../../errors/fail.ts';
import { passingFaultOfSystem } from '../../errors/system-faults.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { loginKey } from '../../kernel/login-key.ts';
import type { Mailer, MailMessage } from '../../mail/index.ts';
import type { Logger } from '../../observe/index.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { System } from '../../systems/index.ts';
import { holds } from '../accounts/user-filters.ts';
import { updateUser } from '../accounts/user-update.ts';
import { hashToken } from '../sessions/token.ts';
import { LINK_LIFETIME_MS, newResetToken } from './reset-token.ts';

/** Services that password resets need. */
export interface ResetParts {
  readonly mailer: Pick<Mailer, 'send'>;
  /** The service's public address, without a slash at the end. */
  readonly addresses: Pick<Addresses, 'base'>;
  readonly log: Logger;
}

/** The system of a request. */
type ResetSystem = Pick<System, 'appId' | 'store' | 'isHeld' | 'hold' | 'release' | 'isClosing'>;

/** Path of the page of a link, below the service's address. */
export const resetPath = '/password-reset';

/** Longer than any address. */
const MAX_ADDRESS_LENGTH = 1_000;
/**
 * Maximum number of messages to one user within the lifetime of a link. The last one stays valid all that time, so that requests in the user's
 * name cannot keep the user from resetting the password.
 */
const MAX_MESSAGES = 20;

/** Interval, in milliseconds, of checking whether the system closes or is resumed while a request waits. */
const CHECK_INTERVAL_MS = 500;
/** Retry delay, in milliseconds, of a message that could be neither sent nor kept. */
const RETRY_DELAY_MS = 5_000;
/** Maximum number of requests that wait for their store; further ones are dropped. */
const MAX_WAITING = 10_000;

const confirmation = 'If this address belongs to a user, a message with a link to set a new password is on its way.';

interface UserRow {
  readonly objectId: string;
  readonly email?: string;
  readonly active?: boolean;
}

/** Requests for a new password. Reference: users.md#password-reset. */
export class PasswordResets {
  readonly #parts: ResetParts;
  /** Number of messages by application id and user. */
  #waiting = 0;
  readonly #sent = new LRUCache<string, { count: number }>({ max: 10_000, ttl: LINK_LIFETIME_MS });

  constructor(parts: ResetParts) {
    this.#parts = parts;
  }

  /**
   * Accepts a request. The answer is the same for every address, since it is made before anything is looked up; the system is held open until the
   * link is created.
   * @throws emailMissing (204)
   */
  request(system: ResetSystem, body: JsonObject): { message: string } {
    const email = own(body, 'email');
    if (typeof email !== 'string' || email.trim() === '') return fail('emailMissing');
    if (email.length <= MAX_ADDRESS_LENGTH) {
      system.hold();
      setImmediate(() => {
        this.#sendLink(system, loginKey(email)).catch((error: unknown) =>
          this.#parts.log.error({ err: error }, 'a request for a new password failed'),
        );
      });
    }
    return { message: confirmation };
  }

  async #sendLink(system: ResetSystem, emailKey: string): Promise<void> {
    const { appId } = system;
    let message: MailMessage | null;
    try {
      if (!(await this.#whenResumed(system))) return;
      message = await this.#onceBack(system, () => this.#makeLink(appId, system.store, emailKey));
    } finally {
      // The mailer is called in the same turn, so that a caller waiting for the system to close finds the message under way.
      system.release();
    }
    if (message) await this.#send(message, appId);
  }

  /** Waits until the system may send mail, at most for the lifetime of a link. @returns whether it may */
  async #whenResumed(system: ResetSystem): Promise<boolean> {
    if (!system.isHeld) return true;
    if (this.#waiting >= MAX_WAITING) return false;
    const until = performance.now() + LINK_LIFETIME_MS;
    this.#waiting++;
    while (system.isHeld && !system.isClosing && performance.now() <= until)
      await wait(CHECK_INTERVAL_MS, undefined, { ref: false });
    this.#waiting--;
    return !system.isHeld;
  }

  /** Executes promised work, retrying once the store is back, at most for the lifetime of a link. */
  async #onceBack<T>(system: ResetSystem, work: () => Promise<T>): Promise<T> {
    const until = performance.now() + LINK_LIFETIME_MS;
    for (;;)
      try {
        return await work();
      } catch (error) {
        if (!isPassing(error) || performance.now() > until || this.#waiting >= MAX_WAITING) throw error;
        this.#waiting++;
        let isBack = false;
        void system.store.whenBack().then(() => {
          isBack = true;
        });
        do await wait(CHECK_INTERVAL_MS, undefined, { ref: false });
        while (!isBack && !system.isClosing && performance.now() <= until);
        this.#waiting--;
        if (system.isClosing) throw error;
      }
  }

  /** Retries while the mail directory cannot be written. */
  async #send(message: MailMessage, appId: string): Promise<void> {
    const until = performance.now() + LINK_LIFETIME_MS;
    for (;;)
      try {
        return await this.#parts.mailer.send(message, appId);
      } catch (error) {
        if (passingFaultOfSystem(error) === null || performance.now() > until) throw error;
        await wait(RETRY_DELAY_MS, undefined, { ref: false });
      }
  }

  /** @returns the message with the link; `null` if there is no one to send it to */
  async #makeLink(appId: string, store: Store, emailKey: string): Promise<MailMessage | null> {
    const [user] = await readRows<UserRow>(store, {
      className: '_User',
      fields: ['objectId', 'email', 'active'],
      filter: (table) => holds(table, '_email_key', emailKey),
      limit: 1,
    });
    if (!user?.email || user.active === false || !this.#mayHaveOne(`${appId}/${user.objectId}`)) return null;
    const token = newResetToken();
    const isKept = await keepToken(store, user.objectId, emailKey, token).catch((error) => {
      this.#hadNone(`${appId}/${user.objectId}`);
      throw error;
    });
    if (!isKept) return null;
    return resetMessage(user.email.trim(), `${this.#parts.addresses.base}${resetPath}/${appId}?token=${token}`);
  }

  #hadNone(key: string): void {
    const sent = this.#sent.get(key);
    if (sent) sent.count--;
  }

  #mayHaveOne(key: string): boolean {
    const sent = this.#sent.get(key) ?? { count: 0 };
    if (sent.count === 0) this.#sent.set(key, sent);
    sent.count++;
    if (sent.count === MAX_MESSAGES + 1)
      this.#parts.log.warn('messages to a user are held back: a new password was asked for again and again');
    return sent.count <= MAX_MESSAGES;
  }
}

/** Replaces an earlier token. @returns false if the user is gone, or has another address meanwhile */
function keepToken(store: Store, userId: string, emailKey: string, token: string): Promise<boolean> {
  const set = { _reset_token: hashToken(token), _reset_expires_at: Date.now() + LINK_LIFETIME_MS };
  return updateUser(store, userId, (table) => ({ condition: holds(table, '_email_key', emailKey), set }));
}

const subject = 'איפוס סיסמה · Password reset';

const hebrew = [
  'התקבלה בקשה לאפס את הסיסמה שלך. כדי לבחור סיסמה חדשה יש לפתוח את הקישור:',
  'הקישור טוב לשעה אחת ולשימוש אחד. לא ביקשת לאפס את הסיסמה? אין צורך לעשות דבר, והסיסמה לא תשתנה.',
] as const;

const english = [
  'Somebody asked to reset your password. To choose a new one, open this link:',
  'The link is good for one hour and can be used once. If it was not you who asked, there is nothing to do: your password stays as it is.',
] as const;

/** Returns the message with the link to set a new password. */
export function resetMessage(to: string, link: string): MailMessage {
  const text = [hebrew, english].map(([before, after]) => `${before}\n\n${link}\n\n${after}\n`).join('\n---\n\n');
  return { to, subject, text, html: page(escapeHtml(link)) };
}

function page(link: string): string {
  const part = (direction: string, [before, after]: readonly [string, string]) =>
    `<div ${direction}><p>${before}</p><p dir="ltr"><a href="${link}">${link}</a></p><p>${after}</p></div>`;
  return [
    '<!doctype html><html lang="he" dir="rtl"><head><meta charset="utf-8"></head>',
    '<body style="font-family:sans-serif;line-height:1.5">',
    part('lang="he" dir="rtl"', hebrew),
    '<hr>',
    part('lang="en" dir="ltr"', english),
    '</body></html>',
  ].join('');
}
