import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue } from '../admission/fair-queue.ts';
import { type Logger, type MailOutcome, type Observations, traced } from '../observe/index.ts';
import { type ComposedMail, compose, type MailMessage } from './compose.ts';
import type { Outbox, OutboxState } from './outbox.ts';
import { type MailFault, mailFault, type RefusedRecipient } from './smtp-errors.ts';

/** The result of a single attempt to send a message. */
export type MailAttempt =
  /** The server accepted the message, except for the `refused` recipients. */
  | { readonly kind: 'sent'; readonly refused: readonly RefusedRecipient[] }
  /** There is no mail server: the message is kept in the outbox. */
  | { readonly kind: 'kept'; readonly file: string }
  /** The service is shutting down: the attempt was not made, or was cut off. */
  | { readonly kind: 'ended' }
  | ({ readonly kind: 'failed' } & MailFault);

/** Outgoing mail. Each message is sent or kept in the outbox; none is lost silently. */
export interface Mailer {
  /** The sender of messages that name none: an address, with or without a name. */
  readonly from: string;
  /**
   * Resolves when the message has been handed to the mail server, or is kept in the outbox and a warning is logged.
   * @param system application id of the sender
   * @throws errors of the operating system if it could neither be sent nor kept
   */
  send(message: MailMessage, system: string): Promise<void>;
  /**
   * Makes a single attempt to send a message that the caller stores until it is sent.
   * @param system application id of the sender
   * @throws errors of the operating system if the message must be kept in the outbox and cannot be
   */
  attempt(message: MailMessage, system: string): Promise<MailAttempt>;
  /** Begins the shutdown: no further attempts are made, and those in progress are cut off after a grace period. Idempotent. */
  leave(): void;
  /** As `leave`; then waits for the messages in progress, and keeps the rest in the outbox. */
  close(): Promise<void>;
}

/** Delivers messages to a mail server. */
export interface MailTransport {
  /**
   * @returns the refused recipients, if others were accepted
   * @throws any error; `permanent: true` on it means that a retry is useless
   */
  deliver(mail: ComposedMail, signal: AbortSignal): Promise<readonly RefusedRecipient[]>;
  close(): Promise<void>;
}

/** The dependencies and settings of a mailer. */
export interface MailerParts {
  readonly from: string;
  /** `null` if there is no mail server: every message is kept. */
  readonly transport: MailTransport | null;
  readonly box: Outbox;
  readonly log: Logger;
  readonly observations?: Pick<Observations, 'observe'>;
  /** Delay before each retry. */
  readonly retryDelaysMs?: readonly number[];
  /** Grace period for messages in progress at shutdown. */
  readonly closeTimeoutMs?: number;
}

export const RETRY_DELAYS_MS = [500, 2_000, 8_000];
const CLOSE_TIMEOUT_MS = 3_000;
/** Timeout of an attempt, regardless of progress. */
export const ATTEMPT_TIMEOUT_MS = 300_000;
const noServer = 'SMTP_URL is not set';
/** Messages sent concurrently: one of each system in turn, so that no system waits for all messages of another. */
export const CONCURRENCY = 3;
/**
 * Limit for messages in progress, all of which are in memory. Beyond it, a system that has used its share keeps further messages in the outbox
 * immediately.
 */
const MAX_IN_PROGRESS = 1_000;

/** Sends messages, retries transient failures, and keeps in the outbox what cannot be sent. */
export class ReliableMailer implements Mailer {
  readonly #parts: MailerParts;
  readonly #inProgress = new Set<Promise<unknown>>();
  readonly #turns = new FairQueue({ concurrency: CONCURRENCY, maxWaiting: Number.POSITIVE_INFINITY });
  /** File writes are queued too, because each waits for the disk. */
  readonly #writing = new FairQueue({ concurrency: CONCURRENCY, maxWaiting: Number.POSITIVE_INFINITY });
  /** Number of messages in progress that were passed to `send`, by system. Those of `attempt` are stored by the caller. */
  readonly #sending = new Map<string, number>();
  /** Aborted when shutdown begins: no further retries. */
  readonly #leaving = new AbortController();
  /** Aborted at the end of the grace period: attempts in progress are cut off. */
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
    return this.#track(this.#send(message, system, isCrowded).finally(() => this.#count(system, -1)));
  }

  attempt(message: MailMessage, system: string): Promise<MailAttempt> {
    return this.#track(this.#attempt(message, system));
  }

  #isCrowded(system: string): boolean {
    const all = [...this.#sending.values()].reduce((sum, count) => sum + count, 0);
    const own = this.#sending.get(system) ?? 0;
    const systems = this.#sending.size + (own === 0 ? 1 : 0);
    return all >= MAX_IN_PROGRESS && own >= MAX_IN_PROGRESS / systems;
  }

  #count(system: string, more: number): void {
    const count = (this.#sending.get(system) ?? 0) + more;
    if (count === 0) this.#sending.delete(system);
    else this.#sending.set(system, count);
  }

  /** Makes `close` wait for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#inProgress.delete(done));
    this.#inProgress.add(done);
    return done;
  }

  async #attempt(message: MailMessage, system: string): Promise<MailAttempt> {
    const { from, transport } = this.#parts;
    if (!transport) {
      const file = await this.#keep(await compose(from, message, 'keep'), system, noServer);
      return { kind: 'kept', file };
    }
    const mail = await compose(from, message, 'send');
    const attempt = await this.#turns.run({ system, caller: 'attempt' }, async (): Promise<MailAttempt> => {
      if (this.#leaving.signal.aborted) return { kind: 'ended' };
      try {
        const refused = await this.#tryOnce(transport, mail);
        return { kind: 'sent', refused };
      } catch (error) {
        return this.#over.signal.aborted ? { kind: 'ended' } : { kind: 'failed', ...mailFault(error) };
      }
    });
    if (attempt.kind === 'sent') this.#observe('sent');
    else if (attempt.kind === 'failed') this.#observe(attempt.permanent ? 'failed' : 'deferred');
    return attempt;
  }

  #observe(outcome: MailOutcome): void {
    this.#parts.observations?.observe({ kind: 'mail', outcome });
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
    // Send the message even if it cannot be stored first, e.g. when the disk is full.
    let notKept: unknown;
    const name = await this.#put(mail, system, 'sending').catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'the mail box cannot be written');
      notKept = error;
      return null;
    });
    const fault = await this.#deliver(transport, mail, system);
    if (name === null) {
      if (!fault) return;
      this.#observe('failed');
      throw neitherSentNorKept(notKept);
    } else if (fault) {
      await box.keep(name);
      this.#observe('kept');
      this.#logKept(name, { why: 'it could not be sent', ...fault });
    } else await box.drop(name);
  }

  /** Called when the message's turn has come, so that the timeout starts then. */
  #tryOnce(transport: MailTransport, mail: ComposedMail): Promise<readonly RefusedRecipient[]> {
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]);
    return traced('mail', {}, () => transport.deliver(mail, signal), { isRoot: true });
  }

  /** @returns the name of its file */
  async #keep(mail: ComposedMail, system: string, why: string): Promise<string> {
    const name = await this.#put(mail, system, 'kept');
    this.#observe('kept');
    this.#logKept(name, { why });
    return `${name}.eml`;
  }

  #put({ raw }: ComposedMail, system: string, state: OutboxState): Promise<string> {
    return this.#writing.run({ system, caller: '' }, () => this.#parts.box.put(raw, state));
  }

  /** @returns the error of the last attempt; `null` if the message was sent */
  async #deliver(transport: MailTransport, mail: ComposedMail, system: string): Promise<Fault | null> {
    const { retryDelaysMs = RETRY_DELAYS_MS } = this.#parts;
    for (let attempt = 0; ; attempt++)
      try {
        await this.#turns.run({ system, caller: 'send' }, () => this.#tryOnce(transport, mail));
        this.#observe('sent');
        return null;
      } catch (error) {
        const fault = faultOf(error);
        const wait = retryDelaysMs[attempt];
        if (fault.permanent || wait === undefined || !(await this.#delay(wait))) return fault;
        this.#observe('deferred');
      }
  }

  /** @returns whether to make another attempt; `false` at shutdown */
  #delay(milliseconds: number): Promise<boolean> {
    return pause(milliseconds, true, { signal: this.#leaving.signal }).catch(() => false);
  }

  #logKept(file: string, about: object): void {
    this.#parts.log.warn({ file: `${file}.eml`, ...about }, 'a message is kept in the mail box');
  }

  leave(): void {
    this.#leaving.abort();
    this.#timer ??= setTimeout(() => this.#over.abort(), this.#parts.closeTimeoutMs ?? CLOSE_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    this.leave();
    while (this.#inProgress.size > 0) await Promise.allSettled(this.#inProgress);
    clearTimeout(this.#timer);
    this.#over.abort();
    await this.#parts.transport?.close();
  }
}

/** @param notKept the error of storing it; its code decides whether the caller may retry */
function neitherSentNorKept(notKept: unknown): Error {
  const { code } = notKept as NodeJS.ErrnoException;
  return Object.assign(new Error('a message could neither be sent nor kept', { cause: notKept }), { code });
}

/** The facts of an error that are logged. The server's words are not: they may contain the address. */
interface Fault {
  readonly code: unknown;
  readonly responseCode: unknown;
  readonly permanent: boolean;
}

function faultOf(error: unknown): Fault {
  const { code, responseCode, permanent } = error as { code?: unknown; responseCode?: unknown; permanent?: unknown };
  return { code, responseCode, permanent: permanent === true };
}
