import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Principal } from '../access/index.ts';
import type { System } from '../systems/index.ts';
import { fileTokenUser } from '../users/index.ts';
import { isCrossSite } from './access/cross-site.ts';
import { Gate } from './access/gate.ts';
import { refuseUnknown, registerApi, registerOpen } from './api/api.ts';
import { languageIn, SIGN_INS_PER_MINUTE, sessionEndpoints } from './api/sign-in.ts';
import { registerUploads, type TakeUpload } from './api/uploads.ts';
import { apiPath, CONSOLE, ConsoleAddresses } from './context/addresses.ts';
import { ConsoleCookies } from './context/cookies.ts';
import type { ConsoleServices } from './context/services.ts';
import { dataEndpoints } from './data/index.ts';
import { Pages } from './pages/pages.ts';
import { ProgramBuild } from './program/program-build.ts';

/** Of a route, for the plugin that answers other origins. */
const withoutCors = { cors: false };
const writes = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

/** The console (CONTRACT "Console"): its pages, its program, and the addresses that this speaks to. */
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

  /** Has the program built where it is not. To be called when the service listens. */
  prepare(): void {
    this.#program.begin();
  }

  /** Ends a build that is under way. */
  close(): void {
    this.#program.close();
  }

  /** The user whom a cookie lets read private files; `null` where none does. @param system held by the caller */
  async fileViewer(system: System, cookieHeader: string | undefined): Promise<Principal | null> {
    const { appId, store } = system;
    const token = this.#cookies.fileTokenOf(cookieHeader, appId);
    return token === undefined ? null : fileTokenUser({ secret: this.#services.secret, appId }, store, token);
  }

  /** Adds the addresses of CONTRACT "Console" to a server. */
  register(server: FastifyInstance, takeUpload: TakeUpload): void {
    const services = this.#services;
    const addresses = this.#addresses;
    const cookies = this.#cookies;
    const program = this.#program;
    const pages = new Pages({ services, addresses, cookies, program, gate: new Gate(services, addresses, cookies) });
    const build = () => (typeof program.state === 'string' ? '' : program.state.build);
    const attempts = services.limitOf(services.rateLimits.login || SIGN_INS_PER_MINUTE);
    server.register((scope, _options, done) => {
      // No page of another origin reads what the console answers.
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
      scope.route({ method: ['GET', 'HEAD', ...writes], url: `${CONSOLE}/-/*`, handler });
      for (const url of [CONSOLE, `${CONSOLE}/*`]) scope.route({ method: [...writes], url, handler });
      done();
    });
  }
}
