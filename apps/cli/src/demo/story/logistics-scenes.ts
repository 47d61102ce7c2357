import { waitUntil } from '../system/wait-until.js'
import { checkReleasedOnce, expiryJob, hold, outcomes, statusOf } from './logistics-warehouse.js'
import type { Scene } from './scene.js'

const example = 'logistics-holds'
const early: Scene = {
  example,
  tells: 'The job comes 2 s too early and is kept; the worker applies it when the database clock says so.',
  shows: (name) => name('hold', 0),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 0)
    const until = await hold(context, reservation, 2)
    const job = `job-${reservation}`
    const answers = await system.queue.push({ id: job, source: 'warehouse', body: expiryJob(job, reservation, until) })
    look('queue', 'outcomes in the acks', outcomes(answers), ['not_due'])
    look('database', 'the hold meanwhile', await statusOf(context, reservation), 'held')
    await checkReleasedOnce(context, reservation)
  },
}

const refused: Scene = {
  example,
  tells:
    'The yard’s queue pushes again by itself, so its early job is sent back with the time left, and comes when it is due.',
  shows: (name) => name('hold', 1),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 1)
    const until = await hold(context, reservation, 1.5)
    const job = `job-${reservation}`
    const answers = await system.queue.push({ id: job, source: 'yard', body: expiryJob(job, reservation, until) })
    look('queue', 'first answer read', answers[0]?.status, 503)
    look('queue', 'it was told when to come again', Number(answers[0]?.retryAfterMs) >= 1000, true)
    look('queue', 'outcome in the last ack', outcomes(answers).at(-1), 'applied')
    await checkReleasedOnce(context, reservation)
  },
}

const SKEWS = [600_000, -600_000]

/** Starts four more processes, which takes a moment. */
export const wrongClocks: Scene = {
  example,
  tells:
    'Receivers and workers whose clocks are ten minutes ahead and behind join in. The database clock decides, so nothing happens early.',
  shows: (name) => name('hold', 2),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 2)
    const skewed = await Promise.all([
      ...SKEWS.map((skewMs) => system.startSkewed('receiver', skewMs)),
      ...SKEWS.map((skewMs) => system.startSkewed('worker', skewMs)),
    ])
    try {
      const until = await hold(context, reservation, 3)
      const job = `job-${reservation}`
      await system.queue.push({ id: job, source: 'warehouse', body: expiryJob(job, reservation, until) })
      for (const receiver of skewed.slice(0, SKEWS.length)) {
        const id = `${job}-${receiver.name}`
        const url = `http://127.0.0.1:${receiver.port}/push/warehouse`
        await system.queue.enqueue({ id, source: 'warehouse', body: expiryJob(id, reservation, until), url })
        const answer = await waitUntil(
          'an answer',
          async () => (await system.queue.lines({ job: id, kind: 'answer' }))[0],
        )
        look('queue', `answer of the ${receiver.name}`, answer.status, 503)
      }
      const { rows } = await system.database.pool.query<{ early: boolean; status: string }>(
        `SELECT clock_timestamp() < hold_until AS early, status FROM logistics.hold WHERE reservation_id = $1`,
        [reservation],
      )
      if (rows[0]?.early === true) look('database', 'the hold before its time', rows[0].status, 'held')
      await checkReleasedOnce(context, reservation)
      const decided = await system.database.pool.query<{ early: boolean }>(
        `SELECT decided_at < $2 AS early FROM counterfoil.transition_outcome WHERE subject = $1 AND outcome = 'applied'`,
        [reservation, until],
      )
      look('database', 'applied before its time', decided.rows[0]?.early, false)
    } finally {
      await Promise.all(skewed.map((service) => service.stop()))
    }
  },
}

const twoJobs: Scene = {
  example,
  tells: 'Two different jobs for one reservation arrive at once: one of them makes the transition.',
  shows: (name) => name('hold', 3),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 3)
    const until = await hold(context, reservation, 0)
    const jobs = [`job-${reservation}-a`, `job-${reservation}-b`]
    const answers = await Promise.all(
      jobs.map((job) => system.queue.push({ id: job, source: 'warehouse', body: expiryJob(job, reservation, until) })),
    )
    look('queue', 'outcomes in the acks', outcomes(answers.flat()).sort(), ['applied', 'no_longer_held'])
    await checkReleasedOnce(context, reservation)
  },
}

const pushLost: Scene = {
  example,
  tells:
    'The push is lost. The sweep expires the hold and the carrier is told once; when the push turns up late, it adds nothing.',
  shows: (name) => name('hold', 4),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 4)
    const until = await hold(context, reservation, 0.5)
    await checkReleasedOnce(context, reservation)
    const job = `job-${reservation}`
    const late = await system.queue.push({ id: job, source: 'warehouse', body: expiryJob(job, reservation, until) })
    look('queue', 'outcome in the late ack', outcomes(late), ['no_longer_held'])
    await checkReleasedOnce(context, reservation)
    const swept = await system.database.pool.query(
      `SELECT 1 FROM counterfoil.transition_outcome WHERE subject = $1 AND outcome = 'applied' AND decided_by = 'sweep'`,
      [reservation],
    )
    look('database', 'applied by the sweep', swept.rowCount, 1)
  },
}

const killedAfterCommit: Scene = {
  example,
  tells:
    'The receiver is killed with -9 after its COMMIT and before its answer. The queue pushes again; it is a duplicate.',
  shows: (name) => `job-${name('hold', 5)}`,
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const reservation = name('hold', 5)
    const until = await hold(context, reservation, 0)
    const job = `job-${reservation}`
    system.wire.setMode('hold_commit')
    const held = system.wire.commitHeld()
    await system.queue.enqueue({ id: job, source: 'warehouse', body: expiryJob(job, reservation, until) })
    await held
    await system.receiver().kill()
    await system.restartReceiver()
    const answers = await system.queue.ended(job)
    look('queue', 'first answer', answers[0]?.result, 'failed')
    look('queue', 'outcome in the last ack', outcomes(answers).at(-1), 'applied')
    const observed = await system.database.pool.query<{ kind: string }>(
      `SELECT o.kind FROM counterfoil.observation o JOIN counterfoil.delivery d ON d.id = o.delivery
       WHERE d.delivery_id = $1 AND d.source = 'warehouse' ORDER BY o.observed_at`,
      [job],
    )
    look(
      'database',
      'observations',
      observed.rows.map((row) => row.kind),
      ['first', 'duplicate'],
    )
    await checkReleasedOnce(context, reservation)
  },
}

export const LOGISTICS_SCENES = {
  together: [early, refused, wrongClocks, twoJobs, pushLost],
  alone: [killedAfterCommit],
} as const
