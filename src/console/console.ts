import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Principal } from '../access/index.ts';
import type { System } from '../systems/index.ts';
import { fileTokenUser } from '../users/index.ts';
import { isCrossSite } from './access/cross-site.ts';
import { Gate } from './access/gate.ts';
import { refuseUnknown, registerApi, registerOpen } from './api/api.ts';
import { DEFAULT_SIGN_INS_PER_MINUTE, languageIn, sessionEndpoints } from './api/sign-in.ts';
import { registerUploads, type TakeUpload } from './api/uploads.ts';
import { apiPath, CONSOLE, ConsoleAddresses } from './context/addresses.ts';
import { ConsoleCookies } from './context/cookies.ts';
import type { ConsoleServices } from './context/services.ts';
import { dataEndpoints } from './data/index.ts';
import { Pages } from './pages/pages.ts';
import { ProgramBuild } from './program/program-build.ts';

/** Route config that disables CORS. */
const withoutCors = { cors: false };
const writeMethods = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

/** The console: its pages, its program, and the API of the program. Reference: console.md#addresses-of-the-console. */
export class Console {
  readonly #services: ConsoleServices;
  readonly #addresses: ConsoleAddresses;
  readonly #cookies: ConsoleCookies;
  readonly #program: ProgramBuild;

  constructor(services: ConsoleServices) {
    this.#services = services;
    this.#addresses = new ConsoleAddresses(services.addresses);
    this.#cookies = new ConsoleCookies(this.#addresses);
    this.#program = new ProgramBuild(services.log);
  }

  /** Starts building the program if necessary. Call it when the service listens. */
  prepare(): void {
    this.#program.begin();
  }

  /** Aborts a running build. */
  close(): void {
    this.#program.close();
  }

  /** Returns the user whom a cookie lets read private files; `null` if there is none. @param system held by the caller */
  async fileViewer(system: System, cookieHeader: string | undefined): Promise<Principal | null> {
    const { appId, store } = system;
    const token = this.#cookies.fileTokenOf(cookieHeader, appId);
    return token === undefined ? null : fileTokenUser({ secret: this.#services.secret, appId }, store, token);
  }

  /** Registers the console's routes. Reference: console.md#addresses-of-the-console. */
  register(server: FastifyInstance, takeUpload: TakeUpload): void {
    const services = this.#services;
    const addresses = this.#addresses;
    const cookies = this.#cookies;
    const program = this.#program;
    const pages = new Pages({ services, addresses, cookies, program, gate: new Gate(services, addresses, cookies) });
    const build = () => (typeof program.state === 'string' ? '' : program.state.build);
    const attempts = services.limitOf(services.rateLimits.login || DEFAULT_SIGN_INS_PER_MINUTE);
    server.register((scope, _options, done) => {
      // Pages of other origins must not read the console's answers.
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, ...withoutCors };
      });
      scope.addHook('onRequest', (request, reply, next) => {
        if (isCrossSite(request, addresses.originFor(request.headers.host))) pages.refuseCrossSite(request, reply);
        else next();
      });
      registerOpen(scope, { services, cookies, build }, sessionEndpoints({ services, cookies, attempts }));
      registerApi(scope, { services, cookies, build }, dataEndpoints);
      registerUploads(scope, cookies, takeUpload);
      pages.register(scope);
      scope.post(`${apiPath}/language`, (request, reply) => {
        reply.header('set-cookie', cookies.language(languageIn(request.body))).send('{}');
      });
      const handler = (_request: unknown, reply: FastifyReply) => refuseUnknown(services, reply);
      scope.route({ method: ['GET', 'HEAD', ...writeMethods], url: `${CONSOLE}/-/*`, handler });
      for (const url of [CONSOLE, `${CONSOLE}/*`]) scope.route({ method: [...writeMethods], url, handler });
      done();
    });
  }
}
