package viz
import ("slices";"cermic/envs/rng")
func meanInterval(v []float64) [2]float64 {
	r:=rng.New(0,"viz/band")
	means:=make([]float64,1000)
	for i:=range means{ s:=0.0; for range v{ s+=v[r.IntN(len(v))]}; means[i]=s/float64(len(v))}
	slices.Sort(means)
	return [2]float64{means[25],means[974]}
}
