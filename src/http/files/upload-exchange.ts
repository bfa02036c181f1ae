import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../access/index.ts';
import { fail, serviceError } from '../../errors/fail.ts';
import { refuseWrongKey } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import { CallerRequest } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { refuseEarly, sendReply } from '../endpoint/answer.ts';
import type { Envelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { MAX_LOCATION_LENGTH } from '../routes/records.ts';
import { hasLeft } from './body.ts';

/** Bytes that are to become a file. */
export interface UploadBytes {
  /** What the client says it is. */
  readonly saidType: string | undefined;
  /** As far as it is known; else 0. */
  readonly length: number;
  readonly bytes: AsyncIterable<Buffer>;
}

/** Who sends a file, where neither headers nor the body tell. */
export interface Uploader {
  readonly appId: string;
  /** @throws invalidSession (209) */
  authenticate(system: System, asked: CallerRequest): Promise<Principal>;
}

/** One upload on its way to its answer: its body may say at its end whose it is. */
export class Upload {
  readonly services: HttpServices;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly asked: CallerRequest;
  /** Whether its row is written, or another endpoint writes it. */
  #isLogged = false;
  #opened: Opened | undefined;
  #isAdmitted = false;

  constructor(services: HttpServices, request: FastifyRequest, reply: FastifyReply) {
    this.services = services;
    this.request = request;
    this.reply = reply;
    this.asked = new CallerRequest(services, request);
  }

  /** What the client calls the file. */
  get fileName(): string {
    return (this.request.params as { fileName: string }).fileName;
  }

  /** Takes what says whose file it is, and who sends it. @throws unauthorized (403) */
  async open(envelope: Envelope): Promise<void> {
    this.asked.sent(envelope.credentials, envelope.installationId);
    const system = await this.asked.acquire(envelope.appId);
    this.#opened = { system, authenticate: () => this.asked.authenticate(envelope.credentials) };
  }

  /** As `open`. */
  async openFor(uploader: Uploader): Promise<void> {
    const system = await this.asked.acquire(uploader.appId);
    this.#opened = { system, authenticate: () => uploader.authenticate(system, this.asked) };
  }

  /** Whether the caller may send a file, and the system takes one. @throws permissionDenied (119), invalidSession (209), outOfStorage (140) */
  async admit(): Promise<void> {
    if (this.#isAdmitted) return;
    const { system, authenticate } = this.#named;
    refuseWrongKey(await authenticate());
    await this.services.files.admit(system);
    this.#isAdmitted = true;
  }

  /** Makes them a file and answers. @throws what `admit` and `Files.upload` throw */
  async store({ saidType, length, bytes }: UploadBytes): Promise<void> {
    await this.admit();
    if (length > limits.fileBytes) fail('fileTooLarge');
    const { url, name } = await this.services.files.upload(this.#named.system, this.fileName, saidType, bytes);
    const headers = url.length <= MAX_LOCATION_LENGTH ? { location: url } : {};
    sendReply(this.services, this.reply, { status: 201, json: JSON.stringify({ url, name }), headers });
    // Not after what was kept on the disk is removed: the client may have gone on to its next request.
    this.log();
  }

  /** Answers at once, though the client may still be sending. */
  refuse(error: unknown): void {
    // That the bytes broke off is no fault of the service.
    refuseEarly(this.services, this.reply, hasLeft(this.request.raw) ? serviceError('badRequest') : error);
  }

  /** Logs it, once. */
  log(): void {
    if (this.#isLogged) return;
    this.#isLogged = true;
    this.asked.log({ method: 'POST', url: this.request.url, statusCode: this.reply.statusCode });
  }

  /** Leaves the answer, and the log, to another endpoint. */
  handOn(): void {
    this.#isLogged = true;
  }

  get #named(): Opened {
    if (!this.#opened) throw new Error('nothing has said whose upload it is');
    return this.#opened;
  }
}

/** What is known of an upload once something has said whose it is. */
interface Opened {
  readonly system: System;
  readonly authenticate: () => Promise<Principal>;
}
