import { runQueue } from './queue.js'

runQueue(process.env)
