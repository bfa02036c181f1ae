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
import { MAX_LOCATION_LENGTH } from '../routes/record-writes.ts';
import { hasLeft } from './body.ts';

/** Content of an upload. */
export interface UploadBytes {
  /** The content type that the client states. */
  readonly statedType: string | undefined;
  /** Length in bytes as announced by the client; 0 if unknown. */
  readonly length: number;
  readonly bytes: AsyncIterable<Buffer>;
}

/** The sender of a file, if neither headers nor the body identify it. */
export interface Uploader {
  readonly appId: string;
  /** @throws invalidSession (209) */
  authenticate(system: System, callerRequest: CallerRequest): Promise<Principal>;
}

/** An upload being answered. The end of its body may be what names the system. */
export class Upload {
  readonly services: HttpServices;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly callerRequest: CallerRequest;
  /** Whether the log row is written, or left to another endpoint. */
  #isLogged = false;
  #opened: Identified | undefined;
  #isAdmitted = false;

  constructor(services: HttpServices, request: FastifyRequest, reply: FastifyReply) {
    this.services = services;
    this.request = request;
    this.reply = reply;
    this.callerRequest = new CallerRequest(services, request);
  }

  /** The file name that the client chose. */
  get fileName(): string {
    return (this.request.params as { fileName: string }).fileName;
  }

  /** Sets system and caller. @throws unauthorized (403) */
  async open(envelope: Envelope): Promise<void> {
    this.callerRequest.recordCredentials(envelope.credentials, envelope.installationId);
    const system = await this.callerRequest.acquire(envelope.appId);
    this.#opened = { system, authenticate: () => this.callerRequest.authenticate(envelope.credentials) };
  }

  /** Like `open`. */
  async openFor(uploader: Uploader): Promise<void> {
    const system = await this.callerRequest.acquire(uploader.appId);
    this.#opened = { system, authenticate: () => uploader.authenticate(system, this.callerRequest) };
  }

  /**
   * Checks that the caller may upload and that the system has storage left.
   * @throws permissionDenied (119), invalidSession (209), outOfStorage (140)
   */
  async admit(): Promise<void> {
    if (this.#isAdmitted) return;
    const { system, authenticate } = this.#named;
    refuseWrongKey(await authenticate());
    await this.services.files.admit(system);
    this.#isAdmitted = true;
  }

  /** Stores the content as a file and answers. @throws errors of `admit` and `Files.upload` */
  async store({ statedType, length, bytes }: UploadBytes): Promise<void> {
    await this.admit();
    if (length > limits.fileBytes) fail('fileTooLarge');
    const { url, name } = await this.services.files.upload(this.#named.system, this.fileName, statedType, bytes);
    const headers = url.length <= MAX_LOCATION_LENGTH ? { location: url } : {};
    sendReply(this.services, this.reply, { status: 201, json: JSON.stringify({ url, name }), headers });
    // Logged before the spooled bytes are removed: the client may already send its next request.
    this.log();
  }

  /** Answers immediately, even if the client is still sending. */
  refuse(error: unknown): void {
    // A client that disconnects is no fault of the service.
    refuseEarly(this.services, this.reply, hasLeft(this.request.raw) ? serviceError('badRequest') : error);
  }

  /** Logs the upload once. */
  log(): void {
    if (this.#isLogged) return;
    this.#isLogged = true;
    this.callerRequest.log({ method: 'POST', url: this.request.url, statusCode: this.reply.statusCode });
  }

  /** Leaves the answer and the log row to another endpoint. */
  leaveToOther(): void {
    this.#isLogged = true;
  }

  get #named(): Identified {
    if (!this.#opened) throw new Error('nothing has said whose upload it is');
    return this.#opened;
  }
}

/** System and caller of an upload, once known. */
interface Identified {
  readonly system: System;
  readonly authenticate: () => Promise<Principal>;
}
