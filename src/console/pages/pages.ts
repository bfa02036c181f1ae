import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPassing, ServiceError } from '../../errors/fail.ts';
import { retryAfterOf } from '../../errors/render.ts';
import { chooseLanguage, type Language } from '../../kernel/language.ts';
import { faultPlace } from '../../observe/index.ts';
import type { Gate, Verdict } from '../access/gate.ts';
import { assetsPath, CONSOLE, type ConsoleAddresses } from '../context/addresses.ts';
import type { ConsoleCookies } from '../context/cookies.ts';
import type { ConsoleServices } from '../context/services.ts';
import { sendAsset } from '../program/assets.ts';
import type { ProgramBuild } from '../program/program-build.ts';
import { type MessageLink, messageHeaders, messagePage } from './message.ts';
import { shellPage } from './shell.ts';
import { linkTexts, type Message } from './texts.ts';

/** Interval in seconds at which a page reloads while the program is being built. */
const REFRESH_INTERVAL_S = 2;

/** Dependencies of the pages. */
export interface PageParts {
  readonly services: ConsoleServices;
  readonly addresses: ConsoleAddresses;
  readonly cookies: ConsoleCookies;
  readonly gate: Gate;
  readonly program: ProgramBuild;
}

/** The pages of the console and the files of its program. Reference: console.md#addresses-of-the-console. */
export class Pages {
  readonly #parts: PageParts;

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  /** Registers the routes. */
  register(server: FastifyInstance): void {
    const { gate, addresses, program } = this.#parts;
    const add = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => void) =>
      server.route({ method: ['GET', 'HEAD'], url, handler });
    const page = (decide: (request: FastifyRequest) => Promise<Verdict>) => (request: FastifyRequest, reply: FastifyReply) => {
      this.#answer(request, reply, decide);
    };
    add(CONSOLE, (_request, reply) => goTo(reply, `${addresses.root}/`));
    add(
      `${CONSOLE}/`,
      page((request) => gate.home(request)),
    );
    add(
      `${CONSOLE}/sign-in`,
      page((request) => gate.signIn(request)),
    );
    add(`${CONSOLE}/:appId`, (request, reply) => goTo(reply, `${addresses.basePath}${request.url.replace(/(?=\?|$)/, '/')}`));
    add(
      `${CONSOLE}/:appId/*`,
      page((request) => gate.inside(request)),
    );
    add(`${assetsPath}/:name`, (request, reply) => sendAsset(program.state, request, reply));
  }

  /** Refuses a request from another site. Reference: console.md#the-gate. */
  refuseCrossSite(request: FastifyRequest, reply: FastifyReply): void {
    send(reply, 403, this.#languageOf(request), 'crossSite');
  }

  async #answer(
    request: FastifyRequest,
    reply: FastifyReply,
    decide: (request: FastifyRequest) => Promise<Verdict>,
  ): Promise<void> {
    const language = this.#languageOf(request);
    try {
      const verdict = await decide(request);
      if (verdict.kind === 'program') await this.#shell(request, reply, language);
      else if (verdict.kind === 'denied') this.#deny(reply, language, verdict);
      else goTo(reply, verdict.path, verdict.cookies);
    } catch (error) {
      const isKnown = error instanceof ServiceError || isPassing(error);
      if (!isKnown) this.#parts.services.conditions.met('a page of the console failed', faultPlace(error), error);
      const retryAfter = retryAfterOf(error);
      if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
      send(reply, isKnown ? 503 : 500, language, 'unavailable');
    }
  }

  async #shell(request: FastifyRequest, reply: FastifyReply, language: Language): Promise<void> {
    const { services, addresses, program } = this.#parts;
    const built = program.state;
    if (typeof built === 'string') {
      if (built === 'building') reply.header('refresh', String(REFRESH_INTERVAL_S));
      // 200 although the page only waits: browsers report other statuses as errors.
      send(reply, built === 'building' ? 200 : 503, language, built);
      return;
    }
    const appIds = await services.systems.appIds();
    const origin = addresses.originFor(request.headers.host);
    const filesOrigin = new URL(services.addresses.filesOf('').public).origin;
    const { html, headers } = shellPage({
      language,
      root: addresses.root,
      assets: `${addresses.basePath}${assetsPath}`,
      defaultAppId: appIds.length === 1 ? (appIds[0] ?? null) : null,
      program: built,
      fileOrigins: filesOrigin === origin ? [] : [filesOrigin],
    });
    reply.headers(headers).send(html);
  }

  #deny(reply: FastifyReply, language: Language, { name, other }: Extract<Verdict, { kind: 'denied' }>): void {
    const texts = linkTexts[language];
    const links = [
      { to: other, text: texts.other },
      { to: `${this.#parts.addresses.root}/`, text: texts.home },
    ];
    send(reply, 403, language, 'denied', { name, links });
  }

  #languageOf({ headers }: FastifyRequest): Language {
    const before = this.#parts.cookies.languageOf(headers.cookie);
    return chooseLanguage({ before, acceptLanguage: headers['accept-language'] });
  }
}

interface MessageParts {
  readonly name?: string;
  readonly links?: readonly MessageLink[];
}

function send(reply: FastifyReply, status: number, language: Language, message: Message, parts: MessageParts = {}): void {
  reply
    .code(status)
    .headers(messageHeaders)
    .send(messagePage(language, message, parts));
}

function goTo(reply: FastifyReply, location: string, cookies: readonly string[] = []): void {
  if (cookies.length > 0) reply.header('set-cookie', [...cookies]);
  reply.code(303).headers({ location, 'cache-control': 'no-store' }).send('');
}
