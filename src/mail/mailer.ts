import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue } from '../admission/fair-queue.ts';
import type { Logger } from '../observe/index.ts';
import { type ComposedMail, compose, type MailMessage } from './compose.ts';
import type { Outbox, OutboxState } from './outbox.ts';
import { type MailFault, mailFault, type RefusedRecipient } from './smtp-errors.ts';

/** What came of a single attempt to send a message. */
export type MailAttempt =
  /** The server took it, though not for those who are `refused`. */
  | { readonly kind: 'sent'; readonly refused: readonly RefusedRecipient[] }
  /** There is no mail server: it is in the box. */
  | { readonly kind: 'kept'; readonly file: string }
  /** The service ends: it was not made, or cut. */
  | { readonly kind: 'ended' }
  | ({ readonly kind: 'failed' } & MailFault);

/** Outgoing mail. A message is sent, or kept in the box: none is lost in silence. */
export interface Mailer {
  /** The sender of messages that name none: an address, with a name or without. */
  readonly from: string;
  /**
   * Resolves when the message was handed to the mail server, or is kept in the box and the log says so.
   * @param system whose message it is: an application id
   * @throws errors of the operating system where it could neither be sent nor kept
   */
  send(message: MailMessage, system: string): Promise<void>;
  /**
   * Tries once to send a message that its sender keeps until it is sent. @throws errors of the operating system where it is to be kept in
   * the box and cannot be
   * @param system as above
   */
  attempt(message: MailMessage, system: string): Promise<MailAttempt>;
  /** The end is near: nothing is tried any more, and what is under way is cut after a while. Called again it does nothing. */
  leave(): void;
  /** As `leave`; waits for the messages under way, and keeps the rest in the box. */
  close(): Promise<void>;
}

/** Something that takes messages out of the house. */
export interface MailTransport {
  /**
   * @returns the recipients who were refused, where others were not
   * @throws whatever is in the way; `permanent: true` on it says that trying again is of no use
   */
  deliver(mail: ComposedMail, signal: AbortSignal): Promise<readonly RefusedRecipient[]>;
  close(): Promise<void>;
}

/** What a mailer works with. */
export interface MailerParts {
  readonly from: string;
  /** `null` where there is none: every message is kept. */
  readonly transport: MailTransport | null;
  readonly box: Outbox;
  readonly log: Logger;
  /** Milliseconds before each further attempt. */
  readonly pauses?: readonly number[];
  /** Milliseconds that messages under way are waited for at the end. */
  readonly patience?: number;
}

const RETRY_DELAYS_MS = [500, 2_000, 8_000];
const CLOSE_TIMEOUT_MS = 3_000;
/** Milliseconds of an attempt, whatever the server does meanwhile. */
const ATTEMPT_TIMEOUT_MS = 300_000;
const noServer = 'SMTP_URL is not set';
/** Messages that are sent at a time: one of each system in turn, so that nobody's wait for all that another one sends. */
export const CONCURRENCY = 3;
/** Messages under way beyond which a system keeps further ones at once that has its share of them: they lie in memory meanwhile. */
const MAX_UNDER_WAY = 1_000;

/** Sends what it can, several times where the fault may pass, and keeps what it cannot. */
export class ReliableMailer implements Mailer {
  readonly #parts: MailerParts;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #turns = new FairQueue({ atOnce: CONCURRENCY, waiting: Number.POSITIVE_INFINITY });
  /** Files are written in turn too: each waits for the disk. */
  readonly #writing = new FairQueue({ atOnce: CONCURRENCY, waiting: Number.POSITIVE_INFINITY });
  /** Messages under way that nobody else keeps, by system. */
  readonly #sending = new Map<string, number>();
  /** The end has been announced: no more waiting for another attempt. */
  readonly #leaving = new AbortController();
  /** The end is here: no more attempts. */
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MailerParts) {
    this.#parts = parts;
  }

  get from(): string {
    return this.#parts.from;
  }

  send(message: MailMessage, system: string): Promise<void> {
    const isCrowded = this.#isCrowded(system);
    this.#count(system, 1);
    return this.#awaited(this.#send(message, system, isCrowded).finally(() => this.#count(system, -1)));
  }

  attempt(message: MailMessage, system: string): Promise<MailAttempt> {
    return this.#awaited(this.#attempt(message, system));
  }

  #isCrowded(system: string): boolean {
    const all = [...this.#sending.values()].reduce((sum, count) => sum + count, 0);
    const own = this.#sending.get(system) ?? 0;
    const systems = this.#sending.size + (own === 0 ? 1 : 0);
    return all >= MAX_UNDER_WAY && own >= MAX_UNDER_WAY / systems;
  }

  #count(system: string, more: number): void {
    const count = (this.#sending.get(system) ?? 0) + more;
    if (count === 0) this.#sending.delete(system);
    else this.#sending.set(system, count);
  }

  /** Has the end wait for it. */
  #awaited<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  async #attempt(message: MailMessage, system: string): Promise<MailAttempt> {
    const { from, transport } = this.#parts;
    if (!transport) {
      const file = await this.#keep(await compose(from, message, 'keep'), system, noServer);
      return { kind: 'kept', file };
    }
    const mail = await compose(from, message, 'send');
    return this.#turns.run({ system, caller: 'attempt' }, async () => {
      if (this.#leaving.signal.aborted) return { kind: 'ended' };
      try {
        const refused = await this.#tryOnce(transport, mail);
        return { kind: 'sent', refused };
      } catch (error) {
        return this.#over.signal.aborted ? { kind: 'ended' } : { kind: 'failed', ...mailFault(error) };
      }
    });
  }

  async #send(message: MailMessage, system: string, crowded: boolean): Promise<void> {
    const { from, transport, box } = this.#parts;
    const mail = await compose(from, message, transport ? 'send' : 'keep');
    const ended = this.#over.signal.aborted;
    if (!transport || crowded || ended) {
      await this.#keep(
        mail,
        system,
        !transport ? noServer : crowded ? 'too many messages are under way' : 'the service has ended',
      );
      return;
    }
    // A full disk is no reason not to send.
    let notKept: unknown;
    const name = await this.#put(mail, system, 'sending').catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'the mail box cannot be written');
      notKept = error;
      return null;
    });
    const fault = await this.#deliver(transport, mail, system);
    if (name === null) {
      if (fault) throw neither(notKept);
    } else if (fault) {
      await box.keep(name);
      this.#tellKept(name, { why: 'it could not be sent', ...fault });
    } else await box.drop(name);
  }

  /** In its turn, so that it counts from there. */
  #tryOnce(transport: MailTransport, mail: ComposedMail): Promise<readonly RefusedRecipient[]> {
    return transport.deliver(mail, AbortSignal.any([this.#over.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]));
  }

  /** @returns the name of its file */
  async #keep(mail: ComposedMail, system: string, why: string): Promise<string> {
    const name = await this.#put(mail, system, 'kept');
    this.#tellKept(name, { why });
    return `${name}.eml`;
  }

  #put({ raw }: ComposedMail, system: string, state: OutboxState): Promise<string> {
    return this.#writing.run({ system, caller: '' }, () => this.#parts.box.put(raw, state));
  }

  /** @returns what was in the way at the last attempt; `null` where the message was sent */
  async #deliver(transport: MailTransport, mail: ComposedMail, system: string): Promise<Fault | null> {
    const { pauses = RETRY_DELAYS_MS } = this.#parts;
    for (let attempt = 0; ; attempt++)
      try {
        await this.#turns.run({ system, caller: 'send' }, () => this.#tryOnce(transport, mail));
        return null;
      } catch (error) {
        const fault = faultOf(error);
        const wait = pauses[attempt];
        if (fault.permanent || wait === undefined || !(await this.#pause(wait))) return fault;
      }
  }

  /** @returns whether there is to be another attempt */
  #pause(milliseconds: number): Promise<boolean> {
    return pause(milliseconds, true, { signal: this.#leaving.signal }).catch(() => false);
  }

  #tellKept(file: string, about: object): void {
    this.#parts.log.warn({ file: `${file}.eml`, ...about }, 'a message is kept in the mail box');
  }

  leave(): void {
    this.#leaving.abort();
    this.#timer ??= setTimeout(() => this.#over.abort(), this.#parts.patience ?? CLOSE_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    this.leave();
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    clearTimeout(this.#timer);
    this.#over.abort();
    await this.#parts.transport?.close();
  }
}

/** @param notKept why it could not be kept, which decides whether it may be tried again */
function neither(notKept: unknown): Error {
  const { code } = notKept as NodeJS.ErrnoException;
  return Object.assign(new Error('a message could neither be sent nor kept', { cause: notKept }), { code });
}

/** What the log tells of an error: the server's own words may hold the address. */
interface Fault {
  readonly code: unknown;
  readonly responseCode: unknown;
  readonly permanent: boolean;
}

function faultOf(error: unknown): Fault {
  const { code, responseCode, permanent } = error as { code?: unknown; responseCode?: unknown; permanent?: unknown };
  return { code, responseCode, permanent: permanent === true };
}
