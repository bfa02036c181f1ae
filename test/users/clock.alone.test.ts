/**
 * Effects of half an hour, an hour and a year. The service restarts with its clock ahead of the real one, or its clock jumps while it runs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeData, type OwnData } from '../support/data.ts';
import { assertRefused } from '../support/records.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import {
  badLogin,
  badSession,
  clockAhead,
  failedLogins,
  failLogins,
  isAlive,
  jumpClock,
  locked,
  login,
  me,
  otherPassword,
  password,
  signUp,
  type User,
} from '../support/users.ts';
import { eventually } from './mail.ts';
import { fillIn, resetsOf, startMailing } from './reset.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

for (const engine of anyEngine)
  describe(engine, () => {
    let data: OwnData;
    let sink: Smtp;
    let service: Service;
    const resets = resetsOf(
      () => service,
      () => sink,
    );
    const lockedUser = async () => {
      const user = await resets.user();
      await failLogins(service, user.username, 8);
      return user;
    };
    const attempt = (user: User, secret: string) => login(service, { username: user.username, password: secret });
    /** Restarts the service. @param jump by how much `jumpClock` sends its clock further */
    const restart = async (ahead: number, jump: number) => {
      await service.stop();
      service = await startMailing(sink, { ...data, env: clockAhead(ahead, jump) });
    };
    const jumpMinutes = async (count: number) => {
      for (let minute = 0; minute < count; minute++) await jumpClock(service, MINUTE);
    };
    /** The link at the present address of the service. */
    const here = (link: URL) => new URL(link.pathname + link.search, service.url);

    let right: User;
    let wrongAgain: User;
    let lockedLater: User;
    let keepsPassword: User;
    let inUse: User;
    let links: [URL, URL];
    before(async () => {
      data = await makeData(engine);
      sink = await startSmtp();
      service = await startMailing(sink, data);
      [right, wrongAgain] = [await lockedUser(), await lockedUser()];
      const [one, two] = [await resets.user(), await resets.user()];
      links = [await resets.link(one.email), await resets.link(two.email)];
      keepsPassword = two;
    });
    after(async () => {
      await service.stop();
      await sink.close();
      await data.remove();
    });

    test('States/locked: 28 minutes later still', async () => {
      await restart(28 * MINUTE, MINUTE);
      const answer = await attempt(right, password);
      assertRefused(answer, { code: 101, error: /^Your account is locked .* try again after \d+ minute\(s\)$/ });
    });

    test('States/locked for 30 minutes: afterwards the right password signs in, and the count is 0', async () => {
      await jumpMinutes(3);
      assert.equal((await attempt(right, password)).status, 200);
      assert.equal(await failedLogins(service, right), 0);
    });

    test('after the lock a wrong one locks again at once', async () => {
      const [answer] = await failLogins(service, wrongAgain.username, 1);
      assertRefused(answer as never, badLogin);
      assertRefused(await attempt(wrongAgain, password), locked);
    });

    test('a reset link is still good after 58 minutes', async () => {
      lockedLater = await lockedUser();
      await jumpMinutes(27);
      assert.equal((await fillIn(here(links[0]), otherPassword)).status, 200);
    });

    test('a reset link is good for one hour', async () => {
      await jumpMinutes(4);
      assert.equal((await fillIn(here(links[1]), otherPassword)).status, 400);
      assert.equal((await attempt(keepsPassword, password)).status, 200);
    });

    test('after the lock of many attempts at once, one is looked at', async () => {
      const answers = (await Promise.all(Array.from({ length: 10 }, () => failLogins(service, lockedLater.username, 1)))).flat();
      assert.equal(answers.filter(({ body }) => body.error === badLogin.error).length, 1);
      assertRefused(await attempt(lockedLater, password), locked);
    });

    test('States/Expiry: a session lasts one year; its use later returns code 209', async () => {
      const user = await signUp(service);
      inUse = await signUp(service);
      await restart(364 * DAY, 2 * DAY);
      assert.equal((await me(service, user.token)).status, 200);
      assert.equal(await isAlive(service, inUse.token), true);
      await jumpClock(service, 2 * DAY);
      assertRefused(await me(service, user.token), badSession);
      const { body } = await service.call('GET', '/platform/classes/_User', { session: user.token });
      assert.equal(body.code, 209);
      assert.equal((await attempt(user, password)).status, 200);
    });

    test('States/Expiry: a session that is in use expires while the service runs', async () => {
      await eventually(async () => ((await isAlive(service, inUse.token)) ? undefined : true));
      assertRefused(await me(service, inUse.token), badSession);
    });
  });
